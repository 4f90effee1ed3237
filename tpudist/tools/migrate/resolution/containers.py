"""What is in a container, and what a loop over one gives: the cases that are certain.

Tuples, lists, dicts and comprehensions that are written out where they are
made. A list or dict in a variable counts only if all that is done to the
variable in its file is seen here: reading it, ``append``, ``x[key] = value``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Callable, Iterable

from tpudist.surfaces.eras import walks

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution.evaluate import Evaluator
    from tpudist.tools.migrate.resolution.fixed_point import Values
    from tpudist.tools.migrate.resolution.module import Module

UNKNOWN: Values = frozenset([("unknown",)])
_NONE: Values = frozenset()

_SEQUENCES = (ast.Tuple, ast.List, ast.Set)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
#: Methods and functions that only read a container.
_READS = ("get", "items", "keys", "values", "index", "count", "copy")
_READERS = ("enumerate", "zip", "len", "iter", "reversed", "tuple", "sorted", "print", "isinstance")


def elements(evaluator: Evaluator, module: Module, node: Any) -> Values:
    """What a loop over an expression gives one after the other.

    Args:
      evaluator: the `Evaluator`.
      module: the `Module` of the expression.
      node: the expression that is looped over.

    Returns:
      A frozenset of values.
    """
    name, argument = _reader(module, node)
    if name in ("iter", "reversed", "tuple", "sorted"):
        return elements(evaluator, module, argument)
    if name == "values":
        return _inside(evaluator, evaluator.values(module, argument), _entries)
    return _inside(evaluator, evaluator.values(module, node), _elements)


def unpacked(evaluator: Evaluator, module: Module, node: Any, index: int) -> Values:
    """As `elements`, of ``for a, b in node``: what the name at an index gets."""
    name, argument = _reader(module, node)
    if name == "enumerate" and index == 1:
        return elements(evaluator, module, argument)
    if name == "zip" and index < len(node.args) and not _has_star(node.args):
        return elements(evaluator, module, node.args[index])
    if name == "items" and index == 1:
        return _inside(evaluator, evaluator.values(module, argument), _entries)
    found: set[Any] = set()
    for value in elements(evaluator, module, node):
        found |= at(evaluator, value, index) if value[0] == "container" else UNKNOWN
    return frozenset(found) or UNKNOWN


def item(evaluator: Evaluator, module: Module, node: ast.Subscript) -> Values:
    """What a Subscript of a container gives: the element that is named, else any.

    Args:
      evaluator: the `Evaluator`.
      module: the `Module` of the expression.
      node: the Subscript.

    Returns:
      A frozenset of values.
    """
    index = index_of(node)
    if index is None:
        return UNKNOWN
    key = _constant(index)
    found: set[Any] = set()
    for value in evaluator.values(module, node.value):
        if value[0] != "container":
            found |= UNKNOWN
        elif type(value[2]) is ast.Dict:
            found |= _entries(evaluator, value[1], value[2], key) | _added(evaluator, *value[1:])
        elif isinstance(key, int):
            found |= at(evaluator, value, key)
        else:
            found |= _inside(evaluator, [value], _elements)
    return frozenset(found) or UNKNOWN


def index_of(node: ast.Subscript) -> Any:
    """What stands in the brackets of a Subscript; None if it is no single index."""
    index = walks.index_of(node)
    return None if type(index) is ast.Slice or type(index).__name__ == "ExtSlice" else index


def _has_star(arguments: Iterable[Any]) -> bool:
    return any(type(each) is ast.Starred for each in arguments)


def _reader(module: Module, node: Any) -> tuple[str, Any]:
    """(name, argument) of ``enumerate(x)`` or ``x.values()``; ("", None) of anything else."""
    if type(node) is not ast.Call:
        return "", None
    if type(node.func) is ast.Attribute and not node.args and not node.keywords:
        return node.func.attr, node.func.value
    if type(node.func) is ast.Name and node.args and type(node.args[0]) is not ast.Starred:
        if all(each.is_builtin for each in module.scope(node)[node.func.id]):
            return node.func.id, node.args[0]
    return "", None


def _inside(evaluator: Evaluator, values: Iterable[Any], parts: Callable[..., Values]) -> Values:
    found: set[Any] = set()
    for value in values:
        if value[0] == "container":
            found |= parts(evaluator, *value[1:]) | _added(evaluator, *value[1:])
        else:
            found |= UNKNOWN
    return frozenset(found) or UNKNOWN


def _elements(evaluator: Evaluator, module: Module, node: Any) -> Values:
    if type(node) in _COMPREHENSIONS:
        return evaluator.values(module, node.elt)
    if type(node) not in _SEQUENCES:
        return frozenset([("other",)])  # the keys of a dict
    return evaluator.once("elements", node, _in_sequence, evaluator, module, node)


def _in_sequence(evaluator: Evaluator, module: Module, node: Any) -> Any:
    found: set[Any] = set()
    for each in node.elts:
        if type(each) is ast.Starred:
            found |= elements(evaluator, module, each.value)
        else:
            found |= evaluator.values(module, each)
    return found


def _entries(evaluator: Evaluator, module: Module, node: Any, key: Any = None) -> Values:
    """The values of a dict, of those with a constant key if that is known."""
    if type(node) is ast.DictComp:
        return evaluator.values(module, node.value)
    if type(node) is not ast.Dict:
        return UNKNOWN
    found: set[Any] = set()
    for own, value in zip(node.keys, node.values):
        if own is None:
            found |= UNKNOWN
        elif key is None or _constant(own) in (None, key):
            found |= evaluator.values(module, value)
    return frozenset(found)


def at(evaluator: Evaluator, value: tuple[Any, ...], index: int) -> Values:
    """The values of the element at an index.

    Args:
      evaluator: the `Evaluator`.
      value: a value of the kind "container".
      index: an int, negative from the end.

    Returns:
      A frozenset of values.
    """
    module, node = value[1:]
    if type(node) not in (ast.Tuple, ast.List) or _has_star(node.elts):
        return _inside(evaluator, [value], _elements)
    if type(node) is ast.List and _added(evaluator, module, node):
        return _inside(evaluator, [value], _elements)
    if -len(node.elts) <= index < len(node.elts):
        return evaluator.values(module, node.elts[index])
    return UNKNOWN


def _constant(node: Any) -> Any:
    if type(node) is ast.UnaryOp and type(node.op) is ast.USub:
        inner = _constant(node.operand)
        return -inner if isinstance(inner, int) else None
    is_key = type(node) is ast.Constant and isinstance(node.value, (int, str, bytes))
    return node.value if is_key else None


def _added(evaluator: Evaluator, module: Module, node: Any) -> Values:
    """What is put into a container after it was made; unknown if that is not seen."""
    return evaluator.once("added", node, _put_in, evaluator, module, node)


def _put_in(evaluator: Evaluator, module: Module, node: Any) -> Any:
    if type(node) in (ast.Tuple, ast.GeneratorExp):
        return _NONE
    assign = module.parent(node)
    if type(assign) not in (ast.Assign, ast.AnnAssign):
        read = (*_LOOPS, ast.Subscript, ast.Call, ast.keyword, ast.Attribute)
        return _NONE if type(assign) in read else UNKNOWN
    targets = assign.targets if type(assign) is ast.Assign else [assign.target]
    if type(targets[0]) is not ast.Name or len(targets) != 1:
        return UNKNOWN
    found: set[Any] = set()
    for binding in module.scope(assign)[targets[0].id]:
        for access in binding.references:
            found |= _access(evaluator, module, access)
    return found | (UNKNOWN if _is_shared(evaluator, module, targets[0]) else _NONE)


def _is_shared(evaluator: Evaluator, module: Module, target: ast.Name) -> bool:
    """Whether a name is a module's own, that another file mentions: it may add to it."""
    if module.scope(target) is not module.global_scope():
        return False
    others = evaluator.codebase.mentioning(target.id, "import")
    return any(path != module.path for path in others)


def _access(evaluator: Evaluator, module: Module, name: Any) -> Values:
    """What one access to a container's name puts into it."""
    parent = module.parent(name)
    outer = module.parent(parent)
    if type(parent) is ast.Subscript and name is parent.value:
        if type(outer) is ast.Assign and parent in outer.targets:
            return evaluator.values(module, outer.value)
        return UNKNOWN if type(parent.ctx) is not ast.Load else _NONE
    if type(parent) is ast.Attribute and type(outer) is ast.Call and outer.func is parent:
        if parent.attr == "append" and len(outer.args) == 1:
            return evaluator.values(module, outer.args[0])
        return _NONE if parent.attr in _READS else UNKNOWN
    if type(parent) is ast.Call and name in parent.args and _reader(module, parent)[0] in _READERS:
        return _NONE
    reads = (*_LOOPS, ast.Compare, ast.If, ast.IfExp)
    return _NONE if type(parent) in reads else UNKNOWN
