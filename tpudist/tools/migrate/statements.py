"""Putting new statements among those of a module's own level."""

import libcst as cst

from tpudist.tools.migrate.resolution.module import dotted_name


def put_first(plan_, new):
    """Puts statements before the first import, or after the docstring.

    Args:
      plan_: the `Plan`.
      new: the libcst statements.

    Returns:
      The node that they stand before: an import, or the first statement.
    """
    for node in plan_.module.nodes.imports:
        line = plan_.module.parent(node)
        future = (
            isinstance(node, cst.ImportFrom)
            and node.module is not None
            and (dotted_name(node.module) == "__future__")
        )
        if not future and plan_.module.parent(line) is plan_.module.tree:
            plan_.replace(line, lambda updated: _before(new, updated))
            return node
    plan_.replace(plan_.module.tree, lambda updated: _after_docstring(new, updated))
    return plan_.module.tree.body[0]


def binding(module, name):
    """The statement of the module's own level that binds a name, None if there is none."""
    for assignment in module.global_scope()[name]:
        node = getattr(assignment, "node", None)
        while node is not None and module.parent(node) is not module.tree:
            node = module.parent(node)
        if node is not None:
            return node
    return None


def put_after(plan_, statement, new):
    """Puts a statement after one of the module's own level."""
    plan_.replace(
        statement,
        lambda updated: cst.FlattenSentinel(
            (list(updated.nodes) if isinstance(updated, cst.FlattenSentinel) else [updated]) + [new]
        ),
    )


def _before(new, updated):
    if isinstance(updated, cst.FlattenSentinel):
        first, *rest = updated.nodes
        return cst.FlattenSentinel(list(_before(new, first).nodes) + rest)
    first, *more = new
    return cst.FlattenSentinel(
        [
            first.with_changes(leading_lines=updated.leading_lines),
            *more,
            updated.with_changes(leading_lines=()),
        ]
    )


def _after_docstring(new, tree):
    start = 1 if tree.get_docstring() is not None else 0
    while start < len(tree.body) and "__future__" in tree.code_for_node(tree.body[start]):
        start += 1
    return tree.with_changes(body=list(tree.body[:start]) + list(new) + list(tree.body[start:]))
