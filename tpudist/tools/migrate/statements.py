"""Inserts statements into a file."""

from __future__ import annotations

import ast
from typing import Any, Iterable

from tpudist.tools.migrate.use import Plan


def put_first(plan: Plan, lines: Iterable[str]) -> ast.stmt:
    """Puts statements before the first import of the module's own level, or after the docstring.

    Returns the node that they stand before: an import, or the first statement.
    """
    module, body = plan.module, plan.module.tree.body
    start = 1 if ast.get_docstring(module.tree) is not None else 0
    while start < len(body) and getattr(body[start], "module", "") == "__future__":
        start += 1
    imports = [each for each in body[start:] if type(each) in (ast.Import, ast.ImportFrom)]
    text = "".join(line + "\n" for line in lines)
    if imports or not start:
        node = (imports or body)[0]
        place = module.line_start(node)
        plan.edits.wrap(place, place, text, "")
        return node
    _insert_at_line_end(plan, body[start - 1], text)
    return body[start - 1]


def put_behind(plan: Plan, statement: Any, lines: Iterable[str]) -> None:
    """Puts statements behind a simple one, on lines of their own if it is on one of its own."""
    module = plan.module
    if module.is_alone(statement):
        indent = module.indent(statement)
        _insert_at_line_end(plan, statement, "".join(indent + line + "\n" for line in lines))
    else:
        plan.edits.insert(module.span(statement)[1], "".join("; " + line for line in lines))


def _insert_at_line_end(plan: Plan, statement: Any, text: str) -> None:
    end = plan.module.line_end(statement)
    is_ended = plan.module.text[:end].endswith(("\n", "\r"))
    plan.edits.insert(end, text if is_ended else "\n" + text[:-1])
