"""Putting new statements among those of a module's own level."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution.module import Module
    from tpudist.tools.migrate.use import Plan


def put_first(plan: Plan, lines: str) -> Any:
    """Puts statements before the first import, or after the docstring.

    Args:
      plan: the `Plan`.
      lines: the statements, each with its newline.

    Returns:
      The node that they stand before: an import, or the first statement.
    """
    module = plan.module
    for node in module.imports:
        is_future = type(node) is ast.ImportFrom and node.module == "__future__"
        if not is_future and module.parent(node) is module.tree:
            start = module.line_start(node)
            plan.edits.wrap(start, start, lines, "")
            return node
    body = module.tree.body
    first = 1 if body and ast.get_docstring(module.tree) is not None else 0
    while first < len(body) and getattr(body[first], "module", "") == "__future__":
        first += 1
    if first:
        _put_behind(plan, body[first - 1], lines)
    else:
        start = module.line_start(body[0])
        plan.edits.wrap(start, start, lines, "")
    return body[0]


def binding(module: Module, name: str) -> Any:
    """The statement of the module's own level that binds a name, None if there is none."""
    for each in module.global_scope()[name]:
        node = each.node
        while node is not None and module.parent(node) is not module.tree:
            node = module.parent(node)
        if node is not None:
            return node
    return None


def put_after(plan: Plan, statement: Any, line: str) -> None:
    """Puts a statement, without its newline, after one of the module's own level."""
    _put_behind(plan, statement, line + "\n")


def _put_behind(plan: Plan, statement: Any, lines: str) -> None:
    text, end = plan.module.text, plan.module.line_end(statement)
    is_ended = text[:end].endswith(("\n", "\r"))
    plan.edits.insert(end, lines if is_ended else "\n" + lines[:-1])
