"""Members for library writers moved to ``strategy.extended`` in 1.14.

``update(var, fn, *args)`` became ``extended.update(var, fn, args=(...))``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import surfaces
from tpudist.tools.migrate.resolution.module import dotted_name

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = (
    "https://github.com/tensorflow/docs/blob/r1.14/site/en/api_docs/python/tf/distribute/"
    "StrategyExtended.md"
)
_ALL = {
    key: new
    for key, new in surfaces.MEMBERS["v2_0"].items()
    if new.startswith("extended.") and key[1] != "batch_reduce"
}
USES = list(_ALL)

_UPDATES = ("update", "update_non_slot")


def apply(use: Use) -> None:
    """Moves the member, and packs the arguments of the update methods.

    Args:
      use: the `Use`.
    """
    new = _ALL[use.kind, use.name]
    if use.name not in _UPDATES and use.name != "broadcast":
        use.rename(new)
    elif use.call is None:
        use.leave("the method is passed on, not called", "strategy." + new)
    elif use.name == "broadcast":
        _broadcast(use, new)
    elif len(use.arguments) < 2 or any(each.star or each.name for each in use.arguments[:2]):
        use.leave(
            "its variable and function are not its first two arguments",
            "strategy.%s(var, fn, args=(...))" % new,
        )
    else:
        own = [each for each in use.arguments[2:] if each.name == "grouped"]
        for each in own:
            use.rename_keyword(each, "group")
        use.pack([each for each in use.arguments[2:] if each not in own])
        use.rename(new)


def _broadcast(use: Use, new: str) -> None:
    owner = dotted_name(use.node.value)
    if len(use.arguments) == 1 and not owner:
        use.leave(
            "what it is called on would be evaluated twice",
            "strategy.%s(tensor, strategy.extended.worker_devices)" % new,
        )
        return
    if len(use.arguments) == 1:
        (argument,) = use.arguments
        devices = ", %s.extended.worker_devices" % owner
        use.edits.wrap(argument.start, argument.end, "", devices)
    use.rename(new)
