"""The scopes of a tree: what libcst's ``ScopeProvider`` finds, in a fraction of its time.

libcst keeps a scope with each node, asks for the qualified name of each call and has the
tree walked by visitors that rebuild it. Here a scope is kept with the node that it starts
at, and names are looked up once the tree was walked.
"""

import libcst as cst

from tpudist.tools.migrate.resolution import syntax_trees
from tpudist.tools.migrate.resolution.bindings import (
    Access,
    Assignment,
    GlobalScope,
    ImportAssignment,
    Scope,
)

_IN_TARGET = frozenset((cst.Element, cst.StarredElement, cst.Tuple, cst.List))
_WITH_TARGET = frozenset(
    (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.NamedExpr, cst.For, cst.CompFor)
)
#: After these an access is one to what they assign, before them it is not.
_ASSIGNING = frozenset(
    (cst.AnnAssign, cst.AsName, cst.Assign, cst.AugAssign, cst.ClassDef, cst.CompFor)
    + (cst.FunctionDef, cst.Global, cst.Import, cst.ImportFrom, cst.NamedExpr, cst.Nonlocal)
    + (cst.Parameters, cst.WithItem)
)
#: What stands around a name that may be assigned to.
_STORING = _IN_TARGET | _WITH_TARGET | {cst.AsName}
_TYPING = ("typing", "typing_extensions")


def scopes(tree, parents):
    """The scopes of a tree.

    Args:
      tree: a libcst Module, with layout or without.
      parents: as of `tpudist.tools.migrate.resolution.module.Nodes`.

    Returns:
      {id of a node: the `Scope` from there on inwards}.
    """
    finder = _Finder(tree, parents)
    finder.walk(tree)
    finder.resolve()
    return finder.found


class _Finder:
    """Walks a tree as libcst's own visitor of scopes does."""

    def __init__(self, tree, parents):
        self._parents = parents
        self.scope = self._module = GlobalScope()
        self.found = {id(tree): self.scope}
        self._accesses, self._is_dotted = [], False
        self._attributes, self._hints, self._annotations = [None], [False], [False]
        self._literals, self._string = 0, None

    def walk(self, node):
        """Goes through a node and what is below it."""
        kind = type(node)
        method = _METHODS.get(kind)
        if method is not None:
            method(self, node)
        elif kind not in syntax_trees.LEAVES:
            for each in syntax_trees.children(node):
                self.walk(each)
        if kind in _ASSIGNING:
            self.scope.count += 1

    def _in(self, scope, nodes):
        """Walks nodes in a scope."""
        before, self.scope = self.scope, scope
        for each in nodes:
            if each is not None:
                self.found[id(each)] = scope
                self.walk(each)
        self.scope = before

    def resolve(self):
        """Joins accesses and assignments."""
        together, is_dotted = {}, self._is_dotted
        for access, attribute, string in self._accesses:
            name = access.node.value
            if is_dotted and attribute is not None:
                for dotted, node in _dotted_names(attribute):
                    if dotted in access.scope:
                        access.node, name = node, dotted
                        break
            if string is not None:
                access.node = string
            key = access.scope, name
            if key in together:
                together[key].append(access)
            else:
                together[key] = [access]
        for (scope, name), accesses in together.items():
            for assignment in scope[name]:
                assignment.read(scope, accesses)

    # Names.

    def name(self, node):
        scope = self.scope
        self.found[id(node)] = scope
        if type(self._parents.get(id(node))) in _STORING and self._is_stored(node):
            scope.bind(node.value, Assignment, node)
        else:
            self._accesses.append((Access(node, scope), self._attributes[-1], self._string))

    def _is_stored(self, node):
        inner, outer = node, self._parents.get(id(node))
        while type(outer) in _IN_TARGET:
            inner, outer = outer, self._parents.get(id(outer))
        kind = type(outer)
        return kind is cst.AsName or kind in _WITH_TARGET and outer.target is inner

    def attribute(self, node):
        first = self._attributes[-1] is None
        if first:
            self._attributes[-1] = node
        self.walk(node.value)
        if first:
            self._attributes[-1] = None

    def imports(self, node):
        if isinstance(node.names, cst.ImportStar):
            return
        for alias in node.names:
            bound = alias.name if alias.asname is None else alias.asname.name
            for name, _ in _dotted_names(bound):
                self._is_dotted = self._is_dotted or "." in name
                self.scope.bind(name, ImportAssignment, node, bound)

    def other_scope(self, node):
        is_global = type(node) is cst.Global
        for each in node.names:
            scope = self._module if is_global else self.scope.parent
            self.scope.elsewhere(each.name.value, scope)

    # Strings that are types.

    def annotation(self, node):
        self._annotations.append(True)
        self.walk(node.annotation)
        self._annotations.pop()

    def string(self, node):
        if not (self._hints[-1] or self._annotations[-1]) or self._literals:
            if type(node) is cst.ConcatenatedString:
                self.walk(node.left)
                self.walk(node.right)
            return
        if node.evaluated_value:
            before = self._string
            self._string = before or node
            try:
                self.walk(cst.parse_module(node.evaluated_value))
            except (cst.ParserSyntaxError, TypeError):
                pass  # A text in the place of a type that is none: it names nothing.
            self._string = before

    def call(self, node):
        self._attributes.append(None)
        self._hints.append(False)
        self.walk(node.func)
        made = self._of_typing(node.func)
        for index, argument in enumerate(node.args):
            if made in ("NewType", "TypeVar"):
                self._hints[-1] = True
                if not index:
                    continue
            self._hints.append(made == "cast" and not index or self._hints[-1])
            self.walk(argument.value)
            self._hints.pop()
        self._attributes.pop()
        self._hints.pop()

    def subscript(self, node):
        name = self._of_typing(node.value) if type(node.value) is cst.Name else ""
        self._hints.append(bool(name))
        self._literals += name == "Literal"
        for each in syntax_trees.children(node):
            self.walk(each)
        self._literals -= name == "Literal"
        self._hints.pop()

    def _of_typing(self, node):
        """The name in ``typing`` of what a Name or ``typing.x`` is, "" of anything else."""
        first, rest = node, ""
        if type(node) is cst.Attribute:
            first, rest = node.value, node.attr.value
        if type(first) is not cst.Name:
            return ""
        for each in self.scope[first.value]:
            if type(each) is ImportAssignment:
                imported = _imported(each.node, each.as_name)
                module, _, name = (imported + "." + rest).rstrip(".").partition(".")
                if module in _TYPING:
                    return name
        return ""

    # What has a scope of its own.

    def function(self, node):
        self.scope.bind(node.name.value, Assignment, node)
        if getattr(node, "type_parameters", None):  # libcst 1.1
            self.walk(node.type_parameters)
        self._in(Scope(self.scope), (node.params, node.body))
        for each in node.decorators:
            self.walk(each)
        if node.returns:
            self.walk(node.returns)

    def lambda_(self, node):
        self._in(Scope(self.scope), (node.params, node.body))

    def parameter(self, node):
        self.scope.bind(node.name.value, Assignment, node)
        self._in(self.scope.parent, (node.default, node.annotation))

    def class_(self, node):
        self.scope.bind(node.name.value, Assignment, node)
        for each in (*node.decorators, *node.bases, *node.keywords):
            self.walk(each)
        self._in(Scope(self.scope, is_class=True), node.body.body)

    def comprehension(self, node):
        loop, inner = node.for_in, Scope(self.scope)
        self.walk(loop.iter)
        self._in(inner, (loop.target,))
        inner.count += 1
        result = (node.key, node.value) if type(node) is cst.DictComp else (node.elt,)
        self._in(inner, (*loop.ifs, loop.inner_for_in, *result))

    def for_(self, node):
        self.walk(node.target)
        self.scope.count += 1
        for each in (node.iter, node.body, node.orelse):
            if each is not None:
                self.walk(each)

    def argument(self, node):
        self.walk(node.value)


_METHODS = {
    cst.Name: _Finder.name, cst.Attribute: _Finder.attribute, cst.Import: _Finder.imports,
    cst.ImportFrom: _Finder.imports, cst.Global: _Finder.other_scope,
    cst.Nonlocal: _Finder.other_scope, cst.Annotation: _Finder.annotation,
    cst.SimpleString: _Finder.string, cst.ConcatenatedString: _Finder.string,
    cst.Call: _Finder.call, cst.Subscript: _Finder.subscript, cst.Param: _Finder.parameter,
    cst.FunctionDef: _Finder.function, cst.Lambda: _Finder.lambda_, cst.Arg: _Finder.argument,
    cst.ClassDef: _Finder.class_, cst.For: _Finder.for_, cst.ListComp: _Finder.comprehension,
    cst.SetComp: _Finder.comprehension, cst.DictComp: _Finder.comprehension,
    cst.GeneratorExp: _Finder.comprehension,
}  # fmt: skip


def _dotted_names(node):
    """Yields ("a.b.c", node), ("a.b", its part), ("a", ...) of a Name or Attribute."""
    if isinstance(node, cst.Name):
        yield node.value, node
    elif isinstance(node.value, (cst.Name, cst.Attribute)):
        inner = list(_dotted_names(node.value))
        if inner:
            yield "%s.%s" % (inner[0][0], node.attr.value), node
            yield from inner
    elif isinstance(node.value, cst.Call) and isinstance(
        node.value.func, (cst.Name, cst.Attribute)
    ):
        yield from _dotted_names(node.value.func)


def _imported(node, bound):
    """The full name of what an import binds to a name."""
    for alias in node.names:
        if bound is alias.name or alias.asname is not None and bound is alias.asname.name:
            base = node.module if isinstance(node, cst.ImportFrom) else None
            names = [_dotted_names(each) for each in (base, alias.name) if each is not None]
            return ".".join(next(each)[0] for each in names)
    return ""
