"""Makes the rules that only give names another spelling, or report that they have none.

The table LEFT has the names that such a rule leaves, with what to type instead; ``rules.cfg`` says
why.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Mapping

from tpudist import surfaces
from tpudist.surfaces import leads
from tpudist.tools.migrate import rules
from tpudist.tools.migrate.use import Use

if TYPE_CHECKING:
    #: {(kind, name): what is written, or to be typed, instead}.
    Names = Mapping[tuple[str, str], str]


def _below(start: str) -> dict[str, str]:
    return {old: new for old, new in surfaces.NAMES["v2_0"].items() if old.startswith(start)}


def _of_tf(names: Mapping[str, str]) -> Names:
    return {("tf", old): new for old, new in names.items()}


_TOWERS = ("num_towers", "num_replicas", "tower_id", "distribution_strategy")
_CONTEXTS = {
    old: new
    for old, new in surfaces.NAMES["v2_0"].items()
    if old not in surfaces.MOVED
    and (
        old.rpartition(".")[2].startswith(("get_", "has_"))
        or old.endswith(("TowerContext", "DistributionStrategy"))
    )
}
#: Where programs import the names of ``contrib.tpu`` from.
_TPU_MODULES = (
    "contrib.tpu.",
    "contrib.tpu.python.ops.tpu_ops.",
    "contrib.tpu.python.tpu.bfloat16.",
    "contrib.tpu.python.tpu.tpu.",
    "contrib.tpu.python.tpu.tpu_optimizer.",
)
_TPU = {
    module + old.rpartition(".")[2]: new
    for old, new in _below("contrib.tpu.").items()
    for module in _TPU_MODULES
}
_MOVED = {
    old: new
    for old, new in surfaces.MOVED.items()
    if not old.startswith(("contrib.cluster_resolver.", "contrib.tpu."))
}
#: {rule: the names that it gives another spelling}.
_RESPELLED: dict[str, Names] = {
    "tower-names": {key: new for key, new in surfaces.MEMBERS["v2_0"].items() if key[1] in _TOWERS},
    "contexts": _of_tf(_CONTEXTS),
    "resolvers": {
        **_of_tf(_below("contrib.cluster_resolver.")),
        ("resolver", "get_master"): "master",
    },
    "contrib-tpu": _of_tf(_TPU),
    "aggregation": _of_tf(_below("VariableAggregation.")),
    "extended": {
        key: new
        for key, new in surfaces.MEMBERS["v2_0"].items()
        if new.startswith("extended.") and key not in surfaces.LEFT["extended"]
    },
    "contrib-moved": _of_tf(_MOVED),
    "renamed-names": _of_tf(surfaces.RENAMED_TODAY),
    "run": surfaces.MEMBERS["v2_2"],
    "datasets-from-function": surfaces.MEMBERS["latest"],
}
#: {rule: the names that it leaves: what to type}.
_LEFT: dict[str, Names] = {
    **surfaces.LEFT,
    "data-options": {("any", name): words for name, words in surfaces.GONE_DATA_OPTIONS.items()},
}


def _add(name: str) -> None:
    """Adds a rule that respells names, or reports why there is no new spelling."""
    new, gone = _RESPELLED.get(name, {}), _LEFT.get(name, {})

    def apply(use: Use) -> None:
        key = use.kind, use.name
        if key in gone:
            use.leave(rules.table()[name]["why"], gone[key])
        elif use.kind == "tf":
            _respell(use, new[key])
        else:
            use.rename(new[key])

    rules.rule(name, [*new, *gone])(apply)


def _respell(use: Use, new: str) -> None:
    if type(use.node) is ast.Name and not use.module.scope(use.node)[use.node.id]:
        use.leave("an import of * brings it", "tf." + new)
        return
    use.respell(new)
    gone = leads.gone_prefix(new)
    if gone and use.plan.target == "latest":
        why = "its successor tf.%s is not in every TensorFlow of today" % new
        use.leave(why, surfaces.GONE[gone])


for _name in {**_RESPELLED, **_LEFT}:
    _add(_name)
