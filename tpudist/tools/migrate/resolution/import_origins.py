"""Whether a name below ``tf`` is one of ``tf.compat.v1``, by the imports that it comes from."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from tpudist.tools.migrate.resolution.module import dotted_name, imported

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution.module import Module
    from tpudist.tools.migrate.resolution.scopes import Binding
    from tpudist.tools.migrate.use import Plan

_V1 = re.compile(r"(tpudist\.\w+\.)?tensorflow\.compat\.v1(\.|$)")


def first_name(node: Any) -> Any:
    """The expression that ``a.b.c`` begins with."""
    while type(node) is ast.Attribute:
        node = node.value
    return node


def first_word(node: Any) -> str:
    """The word that ``a.b.c`` begins with, "" if it begins with something else."""
    node = first_name(node)
    return node.id if type(node) is ast.Name else ""


def is_v1(module: Module) -> bool:
    """Whether what a file imports of TensorFlow is ``tf.compat.v1``'s."""
    return any(_V1.match(full) for node in module.imports for full, _ in imported(node))


def is_v1_name(plan: Plan, module: Module, node: Any, seen: tuple[str, ...] = ()) -> bool:
    """Whether a name below ``tf`` is one of ``tf.compat.v1``, wherever it comes from.

    Args:
      plan: the `Plan`.
      module: the `Module` of the name.
      node: a Name or Attribute.

    Returns:
      True if its own spelling, or an import that it comes from, says so.
    """
    if ".compat.v1." in dotted_name(node) + ".":
        return True
    name = first_name(node)
    if type(name) is not ast.Name or name.id in seen:
        return False
    bindings = module.scope(name)[name.id]
    return plan.program.borrows_v1(module.path, node) or any(
        _is_v1_binding(plan, module, each, (*seen, name.id)) for each in bindings
    )


def _is_v1_binding(plan: Plan, module: Module, binding: Binding, seen: tuple[str, ...]) -> bool:
    node = binding.node
    if type(node) is ast.Name and type(module.parent(node)) is ast.Assign:
        return is_v1_name(plan, module, module.parent(node).value, seen)
    return binding.is_import and any(
        _V1.match(full) for full, bound in imported(node) if bound == binding.name
    )
