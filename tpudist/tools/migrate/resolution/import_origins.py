"""Where the TensorFlow names of a file come from: which imports bind them, and of ``compat.v1``."""

import re

import libcst as cst

from tpudist.tools.migrate.resolution import tensorflow_names
from tpudist.tools.migrate.resolution.module import dotted_name

_V1 = re.compile(r"(tpudist\.\w+\.)?tensorflow\.compat\.v1(\.|$)")


def imported(node):
    """Yields (full name, bound name) of what an import statement binds."""
    if isinstance(node, cst.Import):
        for alias in node.names:
            full = dotted_name(alias.name)
            yield full, dotted_name(alias.asname.name) if alias.asname else full.split(".")[0]
    elif not node.relative and not isinstance(node.names, cst.ImportStar):
        for alias in node.names:
            name = dotted_name(alias.name)
            yield (
                dotted_name(node.module) + "." + name,
                dotted_name(alias.asname.name) if alias.asname else name,
            )


def first_name(node):
    """The Name that ``a.b.c`` begins with."""
    while type(node) is cst.Attribute:
        node = node.value
    return node


def first_word(node):
    """The word that ``a.b.c`` begins with, "" if it begins with something else."""
    node = first_name(node)
    return node.value if type(node) is cst.Name else ""


def is_v1(module):
    """Whether what a file imports of TensorFlow is ``tf.compat.v1``'s."""
    return any(_V1.match(full) for node in module.nodes.imports for full, _ in imported(node))


def is_v1_name(plan_, module, node, seen=()):
    """Whether a name below ``tf`` is one of ``tf.compat.v1``, wherever it comes from.

    Args:
      plan_: the `Plan`.
      module: the `Module` of the name.
      node: a libcst Name or Attribute.

    Returns:
      True if its own spelling, or an import that it comes from, says so.
    """
    if ".compat.v1." in dotted_name(node) + ".":
        return True
    name = first_name(node)
    if not isinstance(name, cst.Name) or (module.path, name.value) in seen:
        return False
    seen += ((module.path, name.value),)
    if not module.scope(name)[name.value]:
        return any(_starred_from_v1(plan_, module, name.value, seen))
    return any(
        _comes_from_v1(plan_, module, assignment, seen)
        for assignment in module.scope(name)[name.value]
    )


def _starred_from_v1(plan_, module, name, seen):
    """Yields whether a name is one of ``tf.compat.v1``, of each ``from own import *``."""
    for node in module.nodes.imports:
        if isinstance(node, cst.ImportFrom) and isinstance(node.names, cst.ImportStar):
            base = dotted_name(node.module) if node.module else ""
            codebase = plan_.evaluator.codebase
            path = codebase.find_module(base, len(node.relative), module.path)
            other = codebase.module(path) if path and path != module.path else None
            for each in other.global_scope()[name] if other else ():
                yield plan_.survey.wants_v1(path) or _comes_from_v1(plan_, other, each, seen)


def _comes_from_v1(plan_, module, assignment, seen):
    node = assignment.node
    if isinstance(node, cst.Name) and isinstance(module.parent(node), cst.AssignTarget):
        return is_v1_name(plan_, module, module.parent(module.parent(node)).value, seen)
    if not isinstance(node, (cst.Import, cst.ImportFrom)):
        return False
    if any(_V1.match(full) for full, bound in imported(node) if bound == assignment.name):
        return True
    base = dotted_name(node.module) if isinstance(node, cst.ImportFrom) and node.module else ""
    codebase = plan_.evaluator.codebase
    path = isinstance(node, cst.ImportFrom) and codebase.find_module(
        base, len(node.relative), module.path
    )
    other = codebase.module(path) if path else None
    names_ = (
        [
            dotted_name(alias.name)
            for alias in node.names
            if alias.evaluated_alias in (None, assignment.name)
        ]
        if other
        else []
    )
    return any(
        plan_.survey.wants_v1(path) or _comes_from_v1(plan_, other, each, seen)
        for name in names_
        for each in other.global_scope()[name]
    )


def strategies_and_resolvers(plan_):
    """The dotted names below ``tf`` that a file may have a strategy or resolver by."""
    module = plan_.module
    for node in module.nodes.attributes:
        if node.attr.value.endswith(("Strategy", "Resolver")):
            dotted = plan_.evaluator.tensorflow_name(module, node)
            if dotted:
                yield dotted
    for node in module.nodes.imports:
        for full, _ in imported(node) if isinstance(node, cst.ImportFrom) else ():
            below = tensorflow_names.below_tensorflow(full)
            if below:
                yield below
