"""Names that a later TensorFlow has no more, or has elsewhere.

The tables RESPELLED (names of TensorFlow) and RENAMED (members) have the new names of the rules
that only give names another spelling, LEFT what to type instead of the names that those leave.
"""

from __future__ import annotations

import ast

from tpudist import surfaces
from tpudist.surfaces import leads
from tpudist.tools.migrate.resolution.module import first_name
from tpudist.tools.migrate.rules import rule, table
from tpudist.tools.migrate.use import Use

NAME, WHY = "gone-names", "not in every TensorFlow of today"


@rule("gone-contrib", [("tf", "contrib.*")])
def gone_contrib(use: Use) -> None:
    """Everything else below ``tf.contrib``, which ended with TensorFlow 1.15."""
    use.leave("tf.contrib ended with TensorFlow 1.15", leads.gone_text(use.name))


@rule(NAME, [("tf", name) for name in leads.gone_names()])
def gone_names(use: Use) -> None:
    """Names of TensorFlow 1.13 to 2.2 that today's has not: ``tf.estimator``, ..."""
    name, node = use.name, use.module.parent(use.node)
    while type(node) is ast.Attribute:
        name += "." + node.attr
        if leads.gone_today(name) != use.name:
            return  # a longer name around it is one of these, or has moved
        node = use.module.parent(node)
    if not use.plan.has(use.name, is_v1(use)):
        use.leave(WHY, leads.gone_names()[use.name])


@rule("gone-by-2-2", [("tf", name) for name in surfaces.GONE_BY_2_2])
def gone_by_2_2(use: Use) -> None:
    """Public names of TensorFlow 1.13 to 2.0 that 2.2 has not, for a migration that ends there."""
    is_kept = use.name in surfaces.GONE_BY_2_2_BUT_V1 and is_v1(use)
    if use.plan.target == "2.2" and not is_kept:
        use.leave("not in TensorFlow 2.2", surfaces.GONE_BY_2_2[use.name])


def is_v1(use: Use) -> bool:
    """Whether a use is of a name of ``tf.compat.v1``, or becomes one."""
    return (
        use.evaluator.is_v1(use.module, use.node)
        or use.plan.program.wants_v1(use.module.path)
        or "compat.v1" in use.module.text
        and use.tensorflow_name(first_name(use.node)) is None
    )


#: {rule: {(kind, name): what to type}}.
_LEFT = {
    **surfaces.LEFT,
    "data-options": {("any", name): words for name, words in surfaces.GONE_DATA_OPTIONS.items()},
}


def _add(name: str) -> None:
    """Adds a rule that respells names, or reports why there is no new spelling."""
    names, members = surfaces.RESPELLED.get(name, {}), surfaces.RENAMED.get(name, {})
    left = _LEFT.get(name, {})

    def apply(use: Use) -> None:
        key = use.kind, use.name
        if key in left:
            use.leave(table()[name]["why"], left[key])
        elif use.kind != "tf":
            use.rename(members[key])
        elif not use.plan.has(use.name, use.is_v1()):
            new = names[use.name]
            if type(use.node) is ast.Name and not use.module.scope(use.node)[use.node.id]:
                use.leave("an import of * brings it", "tf." + new)
                return
            use.respell(new)
            gone = leads.gone_today(new)
            if gone and use.plan.target == "latest" and not use.plan.has(gone, use.is_v1()):
                instead = leads.gone_names()[gone]
                use.plan.leave(use.node, NAME, use.code(), instead, WHY)

    rule(name, [*(("tf", old) for old in names), *members, *left])(apply)


for _name in {**surfaces.RESPELLED, **surfaces.RENAMED, **_LEFT}:
    _add(_name)
