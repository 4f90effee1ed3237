"""Makes the rules that only give names another spelling, or report that they have none.

The tables RESPELLED (names of TensorFlow) and RENAMED (members) have the new names of each rule,
LEFT what to type instead of the names that it leaves; ``rules.cfg`` says why.
"""

from __future__ import annotations

import ast

from tpudist import surfaces
from tpudist.surfaces import leads
from tpudist.tools.migrate import rules
from tpudist.tools.migrate.rules import gone_names
from tpudist.tools.migrate.use import Use

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
            use.leave(rules.table()[name]["why"], left[key])
        elif use.kind == "tf":
            if not use.plan.has(use.name, use.is_v1()):
                _respell(use, names[use.name])
        else:
            use.rename(members[key])

    rules.rule(name, [*(("tf", old) for old in names), *members, *left])(apply)


def _respell(use: Use, new: str) -> None:
    if type(use.node) is ast.Name and not use.module.scope(use.node)[use.node.id]:
        use.leave("an import of * brings it", "tf." + new)
        return
    use.respell(new)
    gone = leads.gone_today(new)
    if gone and use.plan.target == "latest" and not use.plan.has(gone, use.is_v1()):
        instead = leads.gone_names()[gone]
        use.plan.leave(use.node, gone_names.NAME, "tf." + gone, instead, gone_names.WHY)


for _name in {**surfaces.RESPELLED, **surfaces.RENAMED, **_LEFT}:
    _add(_name)
