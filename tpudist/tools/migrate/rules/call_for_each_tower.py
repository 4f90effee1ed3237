"""``call_for_each_tower(fn, *args)`` is ``experimental_run_v2(fn, args=...)``.

1.13 called it ``call_for_each_replica``, 1.14 ``experimental_run_v2``, with the
arguments in a tuple and a dict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://github.com/tensorflow/models/issues/7252"
USES = [("strategy", "call_for_each_tower"), ("strategy", "call_for_each_replica")]

_OWN = ("run_concurrently",)  # an argument of the method, not of fn


def apply(use: Use) -> None:
    """Rewrites a call; a method that is passed around is left.

    Args:
      use: the `Use`.
    """
    if use.call is None:
        use.leave(
            "the method is passed on, not called",
            "pass lambda fn, *args: strategy.experimental_run_v2(fn, args=args)",
        )
        return
    arguments = use.arguments
    if not arguments or arguments[0].star or arguments[0].name:
        use.leave(
            "its function is not its first argument", "strategy.experimental_run_v2(fn, args=(...))"
        )
        return
    own = [each for each in arguments[1:] if each.name in _OWN]
    use.remove_arguments(own)
    use.pack([each for each in arguments[1:] if each not in own])
    use.rename("experimental_run_v2")
