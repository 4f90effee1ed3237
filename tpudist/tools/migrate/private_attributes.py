"""``tf.python.x``: TensorFlow's own modules as attributes, which it has not since 2.5."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tpudist import surfaces
from tpudist.tools.migrate.gone_imports import OWN_KERAS
from tpudist.tools.migrate.resolution import import_origins
from tpudist.tools.migrate.resolution.module import dotted_name
from tpudist.tools.migrate.rules import gone_names
from tpudist.tools.migrate.use import Use

if TYPE_CHECKING:
    from typing import Mapping

    from tpudist.tools.migrate.rules import Rule
    from tpudist.tools.migrate.use import Plan

_TENSORFLOW = {("tf", "")}
_OWN_MODULES = ("python", "core")


def leave(plan: Plan, table: Mapping[tuple[str, str], Rule]) -> None:
    """Leaves such names, each once in a file, unless their module is told by its own name.

    Args:
      plan: the `Plan`.
      table: {(kind, name): Rule}.
    """
    rule = table.get(gone_names.KEY)
    if rule is None:
        return
    for node in plan.module.of(ast.Attribute):
        if node.attr in _OWN_MODULES and type(node.value) is ast.Name:
            if plan.evaluator.values(plan.module, node.value) == _TENSORFLOW:
                _leave(plan, node, rule.name)


def _leave(plan: Plan, node: Any, rule: str) -> None:
    while type(plan.module.parent(node)) is ast.Attribute:
        node = plan.module.parent(node)
    full = dotted_name(node).partition(".")[2]
    above, _, last = full.rpartition(".")
    if not above or surfaces.gone_today(full) or (full, rule) in plan.told:
        return
    plan.told.add((full, rule))
    first = import_origins.first_word(node)
    is_keras = full.startswith(OWN_KERAS + ".")
    instead = "from tensorflow.%s import %s, which is no public API" % (above, last)
    Use(plan, rule, "tf", full, node).leave(
        "%s.%s is no attribute of every TensorFlow of today" % (first, full.partition(".")[0]),
        surfaces.instead_of_module(full) if is_keras else instead,
        once=True,
    )
