"""``context.merge_call(fn, *args)`` is ``merge_call(fn, args=...)`` since 1.13."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://www.tensorflow.org/versions/r2.0/api_docs/python/tf/distribute/ReplicaContext"
USES = [("context", "merge_call")]


def apply(use: Use) -> None:
    """Packs the arguments; a call with ``args=`` is of the later form already.

    Args:
      use: the `Use`.
    """
    if use.call is None or len(use.arguments) < 2:
        return
    if use.argument(-1, "args", "kwargs") is not None:
        return
    first, *rest = use.arguments
    if first.star or first.name:
        use.leave("its function is not its first argument", "context.merge_call(fn, args=(...))")
        return
    use.pack(rest)
    use.note("merge_call(fn, args=...)")
