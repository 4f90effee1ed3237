"""What an expression may be: followed through imports, variables and calls.

Values are small tuples, and an expression has a set of them:

    ("tf", "distribute.ReduceOp")      a name below ``tf``
    ("is", "strategy")                 an object of a kind of `tensorflow_names.KINDS`
    ("method", "strategy", "unwrap")   a method of such an object
    ("function", module, node, bound)  a function of the code base
    ("class", module, node)            a class of the code base
    ("object", module, node)           an instance of one
    ("module", module)                 a file of the code base
    ("container", module, node)        a tuple, list, dict or comprehension
    ("other",)                         something else
    ("unknown",)                       it cannot be told

None is no value: ``strategy = None`` says nothing.
"""

import libcst as cst
from libcst import metadata

from tpudist.migrate import containers, members, parameters, tensorflow_names
from tpudist.migrate.module import dotted_name, last_word

OTHER = frozenset([("other",)])
UNKNOWN = frozenset([("unknown",)])
NOTHING = frozenset()

_DEPTH = 60


class Evaluator:
    """Finds the values of expressions of a code base.

    Args:
      codebase: a `CodeBase`.
    """

    def __init__(self, codebase):
        self.codebase = codebase
        self._known = {}
        self._open, self._cut = set(), set()

    def values(self, module, node):
        """The values that an expression may have.

        Args:
          module: the `Module` that it is in.
          node: a libcst expression.

        Returns:
          A frozenset; empty if it is None, or only depends on itself.
        """
        if node in self._known:
            return self._known[node]
        if node in self._open or len(self._open) > _DEPTH:
            self._cut.add(node)
            return NOTHING
        self._open.add(node)
        try:
            method = getattr(self, "_" + type(node).__name__, None)
            found = frozenset(method(module, node)) if method else OTHER
        finally:
            self._open.discard(node)
            self._cut.discard(node)
        if not self._cut or not self._open:  # what a cycle cut off is not kept
            self._cut.clear()
            self._known[node] = found
        return found

    def is_only(self, module, node, kind):
        """Whether an expression can be nothing but an object of a kind."""
        return self.values(module, node) == {("is", kind)}

    def may_be(self, module, node, kind):
        """Whether an expression may be of a kind, among others."""
        return ("is", kind) in self.values(module, node)

    def tensorflow_name(self, module, node):
        """The dotted name below ``tf`` that an expression can only be, or None."""
        found = self.tensorflow_names(module, node)
        sure = len(found) == 1 and len(self.values(module, node)) == 1
        return found.pop() if sure else None

    def tensorflow_names(self, module, node):
        """All dotted names below ``tf`` that an expression may be, a set."""
        return {value[1] for value in self.values(module, node) if value[0] == "tf"}

    def global_values(self, module, name):
        """The values of a module's own name."""
        assignments = module.global_scope()[name] if name in module.global_scope() else ()
        found = set()
        for assignment in assignments:
            found |= self.assigned(module, assignment)
        if not assignments:
            for path in self._star_imports(module):
                other = self.codebase.module(path)
                found |= self.global_values(other, name) if other else UNKNOWN
        return frozenset(found) if found or assignments else UNKNOWN

    # Expressions.

    def _Name(self, module, node):
        if node.value == "None":
            return NOTHING
        scope = module.scope(node)
        assignments = scope[node.value]
        if not assignments:
            return self.global_values(module, node.value)
        found = set()
        for assignment in assignments:
            found |= self.assigned(module, assignment)
        return found

    def _Attribute(self, module, node):
        found = set()
        for value in self.values(module, node.value):
            found |= members.attribute(self, value, node.attr.value)
        return found

    def _Call(self, module, node):
        found = set()
        for value in self.values(module, node.func):
            found |= members.result(self, value)
        return found

    def _IfExp(self, module, node):
        return self.values(module, node.body) | self.values(module, node.orelse)

    def _BooleanOperation(self, module, node):
        return self.values(module, node.left) | self.values(module, node.right)

    def _NamedExpr(self, module, node):
        return self.values(module, node.value)

    def _Lambda(self, module, node):
        return [("function", module, node, False)]

    def _container(self, module, node):
        return [("container", module, node)]

    _Tuple = _List = _Set = _Dict = _container
    _ListComp = _SetComp = _GeneratorExp = _DictComp = _container

    def _Subscript(self, module, node):
        return containers.item(self, module, node)

    def _Await(self, module, node):
        return UNKNOWN

    def _Yield(self, module, node):
        return UNKNOWN

    # Assignments.

    def assigned(self, module, assignment):
        """The values that one assignment of a scope gives a name."""
        if isinstance(assignment, metadata.BuiltinAssignment):
            return OTHER
        if isinstance(assignment, metadata.ImportAssignment):
            return self._imported(module, assignment)
        node = assignment.node
        if isinstance(node, cst.FunctionDef):
            return frozenset([("function", module, node, False)])
        if isinstance(node, cst.ClassDef):
            return frozenset([("class", module, node)])
        if isinstance(node, cst.Param):
            return parameters.values(self, module, node)
        return self.target(module, node)

    def target(self, module, node):
        """The values of what is assigned to a Name or Attribute that is a target."""
        parent = module.parent(node)
        if isinstance(parent, cst.AssignTarget):
            return self.values(module, module.parent(parent).value)
        if isinstance(parent, cst.AnnAssign):
            return self._annotated(module, parent)
        if isinstance(parent, cst.NamedExpr):
            return self.values(module, parent.value)
        if isinstance(parent, cst.AsName) and isinstance(module.parent(parent), cst.WithItem):
            entered = self.values(module, module.parent(parent).item)
            return OTHER if entered == OTHER else UNKNOWN
        if isinstance(parent, (cst.For, cst.CompFor)):
            return containers.elements(self, module, parent.iter)
        if isinstance(parent, cst.Element):
            return self._unpacked(module, parent)
        return UNKNOWN

    def _annotated(self, module, statement):
        if statement.value is not None:
            return self.values(module, statement.value)
        return self.of_annotation(module, statement.annotation)

    def of_annotation(self, module, annotation):
        """The values that a type annotation promises."""
        node, found = annotation.annotation, set()
        if isinstance(node, cst.Subscript) and last_word(node.value) == "Optional":
            node = node.slice[0].slice.value
        for value in self.values(module, node):
            if value[0] in ("tf", "class"):
                found |= members.result(self, value)
            else:
                found |= OTHER if value == ("other",) else UNKNOWN
        return frozenset(found)

    def _unpacked(self, module, element):
        """The values of an element of ``a, b = ...`` or ``for a, b in ...``."""
        target = module.parent(element)
        statement = module.parent(target)
        index = [each is element for each in target.elements].index(True)
        if any(isinstance(each, cst.StarredElement) for each in target.elements):
            return UNKNOWN
        if isinstance(statement, (cst.For, cst.CompFor)):
            return containers.unpacked(self, module, statement.iter, index)
        if not isinstance(statement, cst.AssignTarget):
            return UNKNOWN
        found = set()
        for value in self.values(module, module.parent(statement).value):
            if value[0] != "container" or len(getattr(value[2], "elements", ())) != len(
                target.elements
            ):
                return UNKNOWN
            found |= containers.at(self, value, index)
        return frozenset(found) or UNKNOWN

    # Imports.

    def _imported(self, module, assignment):
        node = assignment.node
        if isinstance(node, cst.Import):
            alias = _alias_of(node, assignment)
            full = dotted_name(alias.name)
            if alias.asname is None:
                return self.of_dotted(module, full.split(".")[0])
            return self.of_dotted(module, full)
        base = dotted_name(node.module) if node.module else ""
        alias = _alias_of(node, assignment)
        return self.of_from(module, base, len(node.relative), dotted_name(alias.name))

    def of_dotted(self, module, full):
        """The values of the module that ``import full`` gives."""
        below = tensorflow_names.below_tensorflow(full)
        if below is not None:
            return frozenset([("tf", below)])
        if full.split(".")[0] == "tpudist":
            return frozenset([("tpudist", full)])
        path = self.codebase.find_module(full, 0, module.path)
        if path is None:
            return OTHER
        other = self.codebase.module(path)
        return frozenset([("module", other)]) if other else UNKNOWN

    def of_from(self, module, base, level, name):
        """The values that ``from base import name`` gives."""
        if not level:
            if base.split(".")[0] in ("tensorflow", "tpudist"):
                return self.of_dotted(module, base + "." + name)
        path = self.codebase.find_module((base + "." + name).strip("."), level, module.path)
        inner = frozenset()
        if path is not None:
            other = self.codebase.module(path)
            inner = frozenset([("module", other)]) if other else UNKNOWN
        path = self.codebase.find_module(base, level, module.path)
        if path is None:
            return inner or (UNKNOWN if level else OTHER)
        other = self.codebase.module(path)
        if other is None:
            return inner or UNKNOWN
        if other is module:
            return inner
        found = self.global_values(other, name)
        return inner if inner and found == UNKNOWN else found

    def _star_imports(self, module):
        for node in module.nodes.imports:
            if isinstance(node, cst.ImportFrom) and isinstance(node.names, cst.ImportStar):
                base = dotted_name(node.module) if node.module else ""
                path = self.codebase.find_module(base, len(node.relative), module.path)
                if path is not None and path != module.path:
                    yield path


def _alias_of(node, assignment):
    for alias in node.names:
        if alias.asname is not None:
            bound = dotted_name(alias.asname.name)
        else:
            bound = dotted_name(alias.name)
        if bound == assignment.name or (
            isinstance(node, cst.Import)
            and alias.asname is None
            and bound.split(".")[0] == assignment.name.split(".")[0]
        ):
            return alias
    return node.names[0]
