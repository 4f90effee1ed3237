"""Members for library writers moved to ``strategy.extended`` in 1.14.

``update(var, fn, *args)`` became ``extended.update(var, fn, args=(...))``.
"""

import libcst as cst

from tpudist import surfaces
from tpudist.tools.migrate import edits
from tpudist.tools.migrate.resolution.module import dotted_name

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


def apply(use):
    """Moves the member, and packs the arguments of the update methods.

    Args:
      use: the `Use`.
    """
    new = _ALL[use.kind, use.name]
    if use.name not in _UPDATES and use.name != "broadcast":
        return use.rename(new)
    if use.call is None:
        return use.leave("the method is passed on, not called", "strategy." + new)
    if use.name == "broadcast":
        return _broadcast(use, new)
    if len(use.call.args) < 2 or any(
        each.star or each.keyword is not None for each in use.call.args[:2]
    ):
        return use.leave(
            "its variable and function are not its first two arguments",
            "strategy.%s(var, fn, args=(...))" % new,
        )
    return use.rewrite(use.call, lambda call: _update(use, new, call), new)


def _update(use, new, call):
    rest, group = [], []
    for each in call.args[2:]:
        own = each.keyword is not None and each.keyword.value == "grouped"
        (group if own else rest).append(
            each.with_changes(keyword=cst.Name("group")) if own else each
        )
    packed = edits.packed(rest) if rest else []
    return edits.with_arguments(
        call.with_changes(func=use.renamed(new, call.func)), list(call.args[:2]) + packed + group
    )


def _broadcast(use, new):
    if len(use.call.args) == 1 and not dotted_name(use.node.value):
        return use.leave(
            "what it is called on would be evaluated twice",
            "strategy.%s(tensor, strategy.extended.worker_devices)" % new,
        )

    def call(updated):
        arguments = list(updated.args)
        if len(arguments) == 1:
            devices = cst.Attribute(
                cst.Attribute(updated.func.value, cst.Name("extended")), cst.Name("worker_devices")
            )
            arguments.append(cst.Arg(devices.deep_clone()))
        return edits.with_arguments(
            updated.with_changes(func=use.renamed(new, updated.func)), arguments
        )

    return use.rewrite(use.call, call, new)
