"""What is in the shape of a tensor: integers in TensorFlow 2, which have no ``value``."""

from __future__ import annotations

import ast
from typing import Any

from tpudist.tools.migrate.rules import rule
from tpudist.tools.migrate.use import Use

_NEW = "compat.dimension_value"


@rule("dimension-values", [("any", "value")])
def dimension_values(use: Use) -> None:
    """``x.shape[0].value`` is ``tf.compat.dimension_value(x.shape[0])``."""
    program, path = use.plan.program, use.module.path
    if path in program.graphs - program.v2_graphs or not _is_dimension(use, use.node.value):
        return  # with TensorFlow 1's behavior they have it
    start, end = use.module.outer_span(use.node.value)
    use.edits.wrap(start, end, use.spelled(_NEW) + "(", ")")
    use.edits.remove(end, use.module.span(use.node)[1])
    use.note("tf." + _NEW)


def _is_dimension(use: Use, node: Any) -> bool:
    """Whether an expression is one dimension of a shape: an element of it, or one of a loop."""
    if type(node) is ast.Subscript:
        return type(node.slice) is not ast.Slice and _is_shape(use, node.value)
    loop = _binding(use, node)
    return isinstance(loop, (ast.For, ast.comprehension)) and _is_shape(use, loop.iter)


def _is_shape(use: Use, node: Any) -> bool:
    """Whether an expression is the shape of a tensor, or a part of one."""
    if type(node) is ast.Attribute:
        return bool(node.attr == "shape")
    if type(node) is ast.Call:
        return getattr(node.func, "attr", "") == "get_shape" and not node.args
    if type(node) is ast.Subscript:
        return type(node.slice) is ast.Slice and _is_shape(use, node.value)
    assigned = _binding(use, node)
    return type(assigned) is ast.Assign and _is_shape(use, assigned.value)


def _binding(use: Use, node: Any) -> Any:
    """What binds a variable: a loop, an assignment; None of one that several bind."""
    if type(node) is not ast.Name:
        return None
    bindings = use.module.scope(node)[node.id]
    return use.module.parent(bindings[0].node) if len(bindings) == 1 else None
