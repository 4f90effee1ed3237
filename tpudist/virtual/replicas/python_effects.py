"""Finds Python effects: changes that a function's source makes to objects of others.

Such an effect happens once per trace. Where each replica is traced on its own it happens
once per replica, so one trace for all replicas would leave another state.
"""

from __future__ import annotations

import ast
import collections
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Callable, Iterator

#: An effect: its line in the file, and a description.
Effect = collections.namedtuple("Effect", "line what")

#: Methods that change a list, dictionary or set.
_CHANGES = frozenset(
    "append appendleft extend insert add discard update setdefault pop popitem popleft remove "
    "clear sort reverse".split()
)

_NUMBER = "reads the number of its replica"
_COLLECTION = "reads a collection of the graph, which all replicas add to"

#: {name: description} of names whose value or effect differs per replica in Python.
_PER_REPLICA = {
    "tower_id": _NUMBER,
    "replica_id": _NUMBER,
    "replica_id_in_sync_group": _NUMBER,
    "worker_device_index": _NUMBER,
    "get_losses": _COLLECTION,
    "get_total_loss": _COLLECTION,
    "get_collection": _COLLECTION,
    "get_collection_ref": _COLLECTION,
    "set_random_seed": "sets the seed of the graph",
    "set_non_tensor_output": "gives back a Python object per replica",
    "setattr": "sets an attribute by name",
    "getattr": "takes an attribute by name",
    "globals": "looks at names",
    "locals": "looks at names",
    "vars": "looks at names",
    "exec": "runs text",
    "eval": "runs text",
    "next": "takes the next of an iterator",
}

#: Collections that may be read however many replicas have added to them.
_SAME_FOR_ALL = ("VARIABLES", "UPDATE_OPS", "REGULARIZATION_LOSSES")

_FUNCTIONS = (ast.FunctionDef, ast.Lambda)

#: Expressions that make a new object, or one that cannot be changed.
_NEW = (
    "Dict Set ListComp DictComp SetComp GeneratorExp Call Constant Num Str NameConstant JoinedStr "
    "BinOp UnaryOp Compare Lambda"
).split()


class Source:
    """A function's source: the objects of others that it changes, and the names that it uses.

    Args:
      node: its ``FunctionDef`` or ``Lambda``.
      is_constructor: whether its first argument is a new object, whose attributes it may set.
      is_module: ``is_module(name)``: whether a name that it does not set is a module.
      parent: the `Source` of the function around it, or None.
    """

    def __init__(
        self,
        node: Any,
        is_constructor: bool,
        is_module: Callable[[str], bool],
        parent: Source | None = None,
    ) -> None:
        self._node, self._is_module, self._parent = node, is_module, parent
        self._nodes = list(_own_nodes(node))
        self._declared = {
            name
            for statement in self._nodes
            if isinstance(statement, (ast.Global, ast.Nonlocal))
            for name in statement.names
        }
        self._parameters = _parameters(node)
        self._assigned = _assigned(self._nodes, self._declared)
        self._new = self._parameters[:1] if is_constructor else []
        self._inner = [
            Source(inner, getattr(inner, "name", "") in ("__init__", "build"), is_module, self)
            for inner in self._nodes
            if isinstance(inner, _FUNCTIONS)
        ]

    def effects(self) -> Iterator[Effect]:
        """The effects, in no order."""
        for node in self._nodes:
            what = self._effect(node)
            if what:
                yield Effect(getattr(node, "lineno", self._node.lineno), what)
        for inner in self._inner:
            yield from inner.effects()

    def names(self) -> Iterator[list[str]]:
        """Each name that it uses and does not set, with the attributes taken of it."""
        for node in self._nodes:
            path = _path(node)
            if path and not self._defines(path[0]):
                yield path
        for inner in self._inner:
            yield from inner.names()

    def _defines(self, name: str) -> bool:
        if name in self._assigned or name in self._parameters:
            return True
        return self._parent is not None and self._parent._defines(name)

    def _effect(self, node: Any) -> str | None:
        if isinstance(node, (ast.Attribute, ast.Name)):
            return self._name_effect(node)
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.For)):
            return next(filter(None, map(self._set_effect, _targets(node))), None)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return self._call_effect(node)
        return None

    def _name_effect(self, node: Any) -> str | None:
        name = node.attr if isinstance(node, ast.Attribute) else node.id
        if isinstance(node, ast.Name) and self._defines(name):
            return None
        if name == "device" and isinstance(node, ast.Attribute):
            root = _root(node)
            is_module = root is not None and not self._defines(root) and self._is_module(root)
            return None if is_module else "reads the device of its replica"
        if name in ("get_collection", "get_collection_ref") and self._is_the_same(node):
            return None
        return _PER_REPLICA.get(name)

    def _is_the_same(self, node: Any) -> bool:
        """Whether the collection that is read gives every replica the same."""
        for call in self._nodes:
            if isinstance(call, ast.Call) and call.func is node and call.args:
                return (_path(call.args[0]) or [""])[-1].endswith(_SAME_FOR_ALL)
        return False

    def _set_effect(self, target: Any) -> str | None:
        if isinstance(target, ast.Name):
            is_others = target.id in self._declared and not self._defines(target.id)
            return "sets %s, which is not its own" % target.id if is_others else None
        if isinstance(target, (ast.Attribute, ast.Subscript)) and self._is_of_others(target.value):
            return "sets a part of %s, which it did not make" % (_root(target) or "an object")
        return None

    def _call_effect(self, call: Any) -> str | None:
        method, base = call.func.attr, call.func.value
        if method not in _CHANGES or not self._is_of_others(base):
            return None
        if method == "update" and len(call.args) > 1:  # a strategy's, of a variable
            return None
        return "changes %s, which it did not make, by %s()" % (_root(base) or "an object", method)

    def _is_of_others(self, node: Any, seen: tuple[str, ...] = ()) -> bool:
        """Whether the value of `node` may be an object that exists outside of the function."""
        if isinstance(node, ast.Name):
            return node.id not in seen and self._is_name_of_others(node.id, seen)
        if isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
            return self._is_of_others(node.value, seen)
        if isinstance(node, (ast.Tuple, ast.List)):
            return any(self._is_of_others(part, seen) for part in node.elts)
        return type(node).__name__ not in _NEW

    def _is_name_of_others(self, name: str, seen: tuple[str, ...]) -> bool:
        if name in self._new:
            return False
        if name in self._assigned or name in self._parameters:
            values = self._assigned.get(name, ())
            return name in self._parameters or any(
                self._is_of_others(value, seen + (name,)) for value in values
            )
        if self._parent is not None:
            return self._parent._is_name_of_others(name, seen)
        return not self._is_module(name)


def _own_nodes(function: Any) -> Iterator[Any]:
    """The nodes of a function, without what is in functions in it."""
    body = function.body
    pending = list(body) if isinstance(body, list) else [body]
    pending += [*function.args.defaults, *filter(None, function.args.kw_defaults)]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.FunctionDef):
            pending += node.decorator_list
        elif not isinstance(node, ast.Lambda):
            pending += ast.iter_child_nodes(node)


def _parameters(function: Any) -> list[str]:
    args = function.args
    listed = [*getattr(args, "posonlyargs", []), *args.args, *args.kwonlyargs]
    return [arg.arg for arg in [*listed, args.vararg, args.kwarg] if arg is not None]


def _assigned(nodes: list[Any], declared: set[str]) -> dict[str, list[Any]]:
    """{name that is set: [the expressions that it is set to, as far as they are in the source]}."""
    assigned: dict[str, list[Any]] = collections.defaultdict(list)
    nothing = ast.Tuple([], ast.Load())
    for node in nodes:
        for target, value in _pairs(node):
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and not isinstance(name.ctx, ast.Load):
                    assigned[name.id].append(value)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            assigned[node.name].append(nothing)
        if isinstance(node, ast.ExceptHandler) and node.name:
            assigned[node.name].append(nothing)
        for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            assigned[(alias.asname or alias.name).split(".")[0]].append(nothing)
    return {name: values for name, values in assigned.items() if name not in declared}


def _pairs(node: Any) -> Iterator[tuple[Any, Any]]:
    """(target, value) of each assignment that a node is."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield target, node.value
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        yield node.target, node.value or ast.Tuple([], ast.Load())
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield node.target, node.iter
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.optional_vars, node.context_expr
    elif type(node).__name__ == "NamedExpr":
        yield getattr(node, "target"), getattr(node, "value")  # noqa: B009 (from Python 3.8)


def _targets(node: Any) -> list[Any]:
    """The single targets that a statement sets; tuples and lists are unpacked."""
    pending = list(getattr(node, "targets", ())) or [node.target]
    targets = []
    while pending:
        target = pending.pop()
        if isinstance(target, (ast.Tuple, ast.List)):
            pending += target.elts
        else:
            targets.append(target.value if isinstance(target, ast.Starred) else target)
    return targets


def _path(node: Any) -> list[str] | None:
    """``["a", "b", "c"]`` of ``a.b.c``."""
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.insert(0, node.attr)
        node = node.value
    return [node.id, *path] if isinstance(node, ast.Name) else None


def _root(node: Any) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
