"""Finds in which scope of a file each name is bound, and which nodes read it."""

from __future__ import annotations

import ast
import builtins
import re
from typing import Any, Callable, Iterable, Iterator, NamedTuple

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_IMPORTS = (ast.Import, ast.ImportFrom)
#: What binds a name that it has as ``name`` or ``rest``; some of it only newer Pythons have.
_NAMING = tuple(
    getattr(ast, kind)
    for kind in """FunctionDef AsyncFunctionDef ClassDef ExceptHandler MatchAs MatchStar
    MatchMapping TypeVar ParamSpec TypeVarTuple""".split()
    if hasattr(ast, kind)
)
_WORD = re.compile(r"[A-Za-z_]\w*")


class Binding(NamedTuple):
    """A name that is bound."""

    name: str
    node: Any  # a Name, a definition, an argument, an import statement, ...; None of a builtin

    @property
    def is_import(self) -> bool:
        """Whether an import statement binds it."""
        return type(self.node) in _IMPORTS

    @property
    def is_builtin(self) -> bool:
        """Whether it is one of Python's own names."""
        return self.node is None


class Scope:
    """The names of a module, function, class or comprehension; without a node, of Python's own."""

    def __init__(self, node: Any, parent: Scope | None = None) -> None:
        self.node, self.parent = node, parent
        self.is_class = type(node) is ast.ClassDef
        self._found: dict[str, list[Binding]] = {}
        self._elsewhere: dict[str, Scope] = {}
        self._imports: dict[str, list[Binding]] = {}

    @property
    def bindings(self) -> list[Binding]:
        """The `Binding`s of the scope itself."""
        return [each for found in self._found.values() for each in found]

    def bind(self, name: str, node: Any) -> None:
        """Notes that a name is bound here."""
        self._found.setdefault(name, []).append(Binding(name, node))

    def move(self, name: str, scope: Scope) -> None:
        """Makes a name mean that of another scope, as ``global`` and ``nonlocal`` do."""
        if scope is not self:
            self._elsewhere[name] = scope
            for binding in self._found.pop(name, ()):
                scope.bind(name, binding.node)

    def __getitem__(self, name: str) -> list[Binding]:
        """The bindings that a name may mean here."""
        owner = self.owner(name)
        if owner.parent is None and name not in owner._found and hasattr(builtins, name):
            owner.bind(name, None)
        return owner._found.get(name, [])

    def owner(self, name: str) -> Scope:
        """The scope that binds a name read here; that of Python's own names if none does."""
        if name in self._elsewhere:
            return self._elsewhere[name].owner(name)
        if name in self._found or self.parent is None:
            return self
        return self.around().owner(name)

    def imports(self, name: str) -> list[Binding]:
        """Those of the bindings that a name may mean here that an import statement makes."""
        if name not in self._imports:
            self._imports[name] = [each for each in self[name] if each.is_import]
        return self._imports[name]

    def around(self) -> Scope:
        """The next scope whose names are seen from inside: those of a class are not."""
        outer = self.parent
        while outer is not None and outer.is_class:
            outer = outer.parent
        return outer or self


class Scopes:
    """The scopes of a file, from its tree, its nodes of some classes, and their parents."""

    def __init__(
        self, tree: ast.Module, of: Callable[..., list[Any]], parents: dict[Any, Any]
    ) -> None:
        self.outermost = Scope(tree, Scope(None))
        self._parents = parents
        nodes = of(*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)
        self._own = {tree: self.outermost, **{node: Scope(node) for node in nodes}}
        self._outside = {each for node in nodes for each in _outside(node)}
        for node in nodes:
            self._own[node].parent = self.around(node)
        for node in of(ast.Name):
            if type(node.ctx) is ast.Store:
                scope = self.around(node)
                if type(self._parents[node]) is ast.NamedExpr:  # binds outside comprehensions
                    while isinstance(scope.node, _COMPREHENSIONS) and scope.parent is not None:
                        scope = scope.parent
                scope.bind(node.id, node)
        for node in of(*_NAMING, ast.arg, *_IMPORTS):
            for name in _bound(node):
                self.around(node).bind(name, node)
        for node in of(ast.Global, ast.Nonlocal):
            for name in node.names:
                scope, is_global = self.around(node), type(node) is ast.Global
                scope.move(name, self.outermost if is_global else scope.around().owner(name))

    def around(self, node: Any) -> Scope:
        """The scope that a node is in: of a definition that of its name."""
        is_outside = False
        while node in self._parents:
            is_outside = is_outside or node in self._outside
            node = self._parents[node]
            if node in self._own:
                if not is_outside:
                    break
                is_outside = False
        return self._own.get(node, self.outermost)

    def references(
        self, names: Iterable[ast.Name], annotations: Iterable[Any]
    ) -> dict[tuple[Scope, str], list[Any]]:
        """Returns {(scope, a name that it binds): the nodes that read it}."""
        reading = [(name, each) for each in annotations for name in _WORD.findall(each.value)]
        reading += [(node.id, node) for node in names if type(node.ctx) is not ast.Store]
        found: dict[tuple[Scope, str], list[Any]] = {}
        for name, node in reading:
            found.setdefault((self.around(node).owner(name), name), []).append(node)
        return found


def _outside(node: Any) -> Iterator[Any]:
    """The nodes below one with a scope of its own that are in the scope around it."""
    if isinstance(node, _COMPREHENSIONS):
        yield node.generators[0].iter
        return
    yield from getattr(node, "decorator_list", ())
    if type(node) is ast.ClassDef:
        yield from (*node.bases, *node.keywords)
        return
    yield from (*node.args.defaults, *filter(None, node.args.kw_defaults))
    named = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    for each in filter(None, (*named, node.args.vararg, node.args.kwarg)):
        if each.annotation is not None:
            yield each.annotation
    if getattr(node, "returns", None) is not None:
        yield node.returns


def _bound(node: Any) -> Iterator[str]:
    """The names that a definition, an argument or an import binds."""
    for alias in node.names if type(node) in _IMPORTS else ():
        dotted = alias.name.split(".")[0] if type(node) is ast.Import else alias.name
        if dotted != "*":
            yield alias.asname or dotted
    for field in ("name", "rest", "arg"):
        if getattr(node, field, None):
            yield getattr(node, field)
