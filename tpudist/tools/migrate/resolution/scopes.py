"""The names of a file: in which scope each is bound, and by what it is read."""

from __future__ import annotations

import ast
import builtins
from typing import Any, Iterable, Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_NAMED = getattr(ast, "NamedExpr", ())


#: Fields that hold no nodes, or none that anybody asks for.
_WITHOUT_NODES = frozenset(
    """arg asname attr conversion ctx id is_async kind kwd_attrs level module n name op ops rest s
    simple tag type_comment type_ignores""".split()
)
_fields: dict[type, tuple[str, ...]] = {}


def children(node: Any) -> list[Any]:
    """The nodes right below a node, in the order of its fields, but for operators and contexts."""
    kind = type(node)
    if kind not in _fields:
        _fields[kind] = tuple(each for each in kind._fields if each not in _WITHOUT_NODES)
        if kind in (ast.Constant, ast.Global, ast.Nonlocal):
            _fields[kind] = ()
    found = []
    for name in _fields[kind]:
        value = getattr(node, name)
        if type(value) is list:
            found += [each for each in value if each is not None]
        elif value is not None:
            found.append(value)
    return found


class Binding:
    """A name that is bound.

    Args:
      name: the name.
      scope: the `Scope` that it is bound in.
      node: a Name, a definition, an argument, an import statement, ...; None of a builtin.
      references: the Names that read the name, or strings in whose types it stands.
    """

    __slots__ = ("name", "node", "references", "scope")

    def __init__(self, name: str, scope: Scope, node: Any, references: list[Any]) -> None:
        self.name, self.scope, self.node = name, scope, node
        self.references = references

    @property
    def is_import(self) -> bool:
        """Whether an import statement binds it."""
        return type(self.node) in (ast.Import, ast.ImportFrom)

    @property
    def is_builtin(self) -> bool:
        """Whether it is one of Python's own names."""
        return self.node is None


class Scope:
    """The names of a module, function, class or comprehension.

    Args:
      parent: the scope around it; None of Python's own names.
      node: what it is the scope of.
    """

    def __init__(self, parent: Scope | None, node: Any = None) -> None:
        self.parent, self._node = parent, node
        self.is_class = type(node) is ast.ClassDef
        self._imports: dict[str, list[Binding]] = {}
        self._found: dict[str, list[Binding]] = {}
        self._elsewhere: dict[str, Scope] = {}

    def release(self) -> None:
        """Lets go of the names; nothing may be asked any more."""
        self._found, self._elsewhere = {}, {}

    @property
    def bindings(self) -> list[Binding]:
        """The `Binding`s of the scope itself."""
        return [each for found in self._found.values() for each in found]

    def bind(self, name: str, node: Any) -> None:
        """Notes that a name is bound, here or where ``global`` and ``nonlocal`` say."""
        scope = self._elsewhere.get(name, self)
        found = scope._found.setdefault(name, [])
        references = found[0].references if found else []
        found.append(Binding(name, scope, node, references))

    def elsewhere(self, name: str, scope: Scope) -> None:
        """Notes that a name is that of another scope."""
        if scope is not self:
            self._elsewhere[name] = scope
            for binding in self._found.pop(name, ()):  # an import before it
                scope.bind(name, binding.node)

    def __contains__(self, name: str) -> bool:
        return bool(self[name])

    def __getitem__(self, name: str) -> list[Binding]:
        """The bindings that a name may mean here, in order."""
        if name in self._elsewhere:
            return self._elsewhere[name][name]
        if name in self._found:
            return self._found[name]
        if self.parent is None:
            if hasattr(builtins, name):
                self._found[name] = [Binding(name, self, None, [])]
            return self._found.get(name, [])
        return self.around()[name]

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


def scopes(tree: ast.Module, annotations: Iterable[ast.Constant]) -> dict[Any, Scope]:
    """The scopes of a file.

    Args:
      tree: its syntax tree.
      annotations: types that are written as strings.

    Returns:
      {a node: the `Scope` from there on inwards}.
    """
    finder = _Finder(tree)
    finder.walk()
    finder.settle()
    finder.read(annotations)
    return finder.found


class _Finder:
    def __init__(self, tree: ast.Module) -> None:
        self._global = Scope(Scope(None), tree)
        self.found: dict[Any, Scope] = {tree: self._global}
        self._todo: list[tuple[Any, Scope]] = [(each, self._global) for each in tree.body[::-1]]
        self._read: list[tuple[Any, Scope]] = []
        self._nonlocal: list[tuple[str, Scope]] = []
        self._holding: dict[Any, Scope] = {}

    def walk(self) -> None:
        """Goes through the tree in the order of the text."""
        while self._todo:
            node, scope = self._todo.pop()
            inner = [(each, scope) for each in children(node)]
            method = _METHODS.get(type(node))
            if method is not None:
                inner = list(method(self, node, scope))
            for each, other in inner:
                if other is not scope:
                    self.found[each] = other
            self._todo += inner[::-1]
            if type(node) is ast.Constant and isinstance(node.value, str):
                self._holding[node] = scope

    def settle(self) -> None:
        """Finds where ``nonlocal`` names are bound, which may be below where that stands."""
        for name, scope in self._nonlocal:
            outer = scope.around()
            bound = outer[name]
            scope.elsewhere(name, bound[0].scope if bound else outer)

    def read(self, annotations: Iterable[ast.Constant]) -> None:
        """Notes by what each name is read, once all are bound."""
        for string in annotations:
            if string in self._holding:
                for name in _names_in(str(string.value)):
                    self._reads(name, string, self._holding[string])
        for node, scope in self._read:
            self._reads(node.id, node, scope)

    def _reads(self, name: str, node: Any, scope: Scope) -> None:
        for binding in scope[name][:1]:  # the others have the same ones
            binding.references.append(node)

    def _name(self, node: ast.Name, scope: Scope) -> Any:
        if type(node.ctx) is ast.Store:
            scope.bind(node.id, node)
        else:
            self._read.append((node, scope))
        return ()

    def _walrus(self, node: Any, scope: Scope) -> Any:
        owner = scope
        while isinstance(owner._node, _COMPREHENSIONS) and owner.parent is not None:
            owner = owner.parent
        owner.bind(node.target.id, node.target)
        return [(node.value, scope)]

    def _import(self, node: Any, scope: Scope) -> Any:
        for alias in node.names:
            if alias.name != "*":
                dotted = alias.name.split(".")[0] if type(node) is ast.Import else alias.name
                scope.bind(alias.asname or dotted, node)
        return ()

    def _other_scope(self, node: Any, scope: Scope) -> Any:
        for name in node.names:
            if type(node) is ast.Global:
                scope.elsewhere(name, self._global)
            else:
                self._nonlocal.append((name, scope))
        return ()

    def _function(self, node: Any, scope: Scope) -> Iterator[tuple[Any, Scope]]:
        own = Scope(scope, node)
        if type(node) is not ast.Lambda:
            scope.bind(node.name, node)
            for each in node.decorator_list:
                yield each, scope
            if node.returns is not None:
                yield node.returns, scope
        for each in getattr(node, "type_params", ()):
            own.bind(each.name, each)
        every = node.args
        for each in every.defaults + [each for each in every.kw_defaults if each is not None]:
            yield each, scope
        own_arguments = [*getattr(every, "posonlyargs", ()), *every.args, *every.kwonlyargs]
        for each in own_arguments + [each for each in (every.vararg, every.kwarg) if each]:
            own.bind(each.arg, each)
            self.found[each] = own
            if each.annotation is not None:
                self.found[each.annotation] = scope
                yield each.annotation, scope
        body = [node.body] if type(node) is ast.Lambda else node.body
        for each in body:
            yield each, own

    def _class(self, node: ast.ClassDef, scope: Scope) -> Iterator[tuple[Any, Scope]]:
        scope.bind(node.name, node)
        for each in (*node.decorator_list, *node.bases, *node.keywords):
            yield each, scope
        own = Scope(scope, node)
        for each in getattr(node, "type_params", ()):
            own.bind(each.name, each)
        for each in node.body:
            yield each, own

    def _comprehension(self, node: Any, scope: Scope) -> Iterator[tuple[Any, Scope]]:
        own = Scope(scope, node)
        for index, each in enumerate(node.generators):
            self.found[each] = own
            yield each.iter, own if index else scope
            if not index:
                self.found[each.iter] = scope
            yield each.target, own
            for condition in each.ifs:
                yield condition, own
        results = [node.key, node.value] if type(node) is ast.DictComp else [node.elt]
        for each in results:
            yield each, own

    def _handler(self, node: Any, scope: Scope) -> Any:
        if getattr(node, "name", None):
            scope.bind(node.name, node)
        return [(each, scope) for each in children(node)]

    def _rest(self, node: Any, scope: Scope) -> Any:
        if node.rest:
            scope.bind(node.rest, node)
        return [(each, scope) for each in children(node)]


def _names_in(text: str) -> list[str]:
    """The names that stand in a type; a text that is none names nothing."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [node.id for node in ast.walk(tree) if type(node) is ast.Name]


_METHODS: dict[Any, Any] = {
    ast.Name: _Finder._name,
    _NAMED: _Finder._walrus,
    ast.Import: _Finder._import,
    ast.ImportFrom: _Finder._import,
    ast.Global: _Finder._other_scope,
    ast.Nonlocal: _Finder._other_scope,
    ast.ClassDef: _Finder._class,
    ast.ExceptHandler: _Finder._handler,
    **dict.fromkeys((*_FUNCTIONS, ast.Lambda), _Finder._function),
    **dict.fromkeys(_COMPREHENSIONS, _Finder._comprehension),
    **{
        getattr(ast, name): method
        for name, method in (
            ("MatchAs", _Finder._handler),
            ("MatchStar", _Finder._handler),
            ("MatchMapping", _Finder._rest),
        )
        if hasattr(ast, name)
    },
}
