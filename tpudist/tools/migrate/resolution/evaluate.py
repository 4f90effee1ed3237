"""What an expression may be: followed through imports, variables and calls.

Values are small tuples, and an expression has a set of them:

    ("tf", "distribute.ReduceOp")      a name below ``tf``
    ("is", "strategy")                 an object of a kind of `tensorflow_names.KINDS`
    ("method", "strategy", "unwrap")   a method of such an object
    ("function", module, node, bound)  a function of the code base
    ("class", module, node)            a class of the code base
    ("object", module, node)           an instance of one
    ("module", module)                 a file of the code base
    ("unread", "a.b")                  a module that is not in the code base
    ("container", module, node)        a tuple, list, dict or comprehension
    ("other",)                         something else
    ("unknown",)                       it cannot be told

None is no value: ``strategy = None`` says nothing.
"""

import re

import libcst as cst

from tpudist.tools.migrate.resolution import (
    bindings,
    builtin_calls,
    called,
    containers,
    imported_values,
    marks,
    members,
    parameters,
)
from tpudist.tools.migrate.resolution.fixed_point import NOTHING, UNKNOWN, FixedPoint
from tpudist.tools.migrate.resolution.module import last_word

OTHER = frozenset([("other",)])

_WORDS = re.compile(r"[A-Za-z_][\w.]*\w|[A-Za-z_]")
_DOTTED = re.compile(r"(?:Optional\[|typing\.Optional\[)?([A-Za-z_][\w.]*)\]?$")


class Evaluator:
    """Finds the values of expressions of a code base.

    Args:
      codebase: a `CodeBase`.
      deadline: a `time.process_time()` after which it stops; None for never.
      how: as of `tpudist.tools.migrate.resolution.called.Called`.
    """

    def __init__(self, codebase, deadline=None, how=""):
        self.codebase, self.called = codebase, called.Called(codebase.called, how)
        self._values = FixedPoint(deadline)
        self._known, self._nodes = self._values.known, []
        self._methods = {}

    def values(self, module, node):
        """The values that an expression may have.

        Args:
          module: the `Module` that it is in.
          node: a libcst expression.

        Returns:
          A frozenset; empty if it is None, or only depends on itself.

        Raises:
          TimeLimitError: the deadline has passed.
        """
        kind = type(node)
        if kind is cst.Name:
            if node.value == "None":
                return NOTHING
            return self._named(module, module.scope(node), node.value)
        key, known = id(node), self._known
        if key in known:
            return known[key]
        if kind not in self._methods:
            self._methods[kind] = getattr(type(self), "_" + kind.__name__, None)
        method = self._methods[kind]
        if method is None:
            return OTHER
        self._nodes.append(node)  # so that no other one gets its id
        return self._values.solve(key, method, self, module, node)

    def certain(self, module, node):
        """As `values`, without computing anything: None if they are not known for certain."""
        kind = type(node)
        if kind is cst.Name:
            if node.value == "None":
                return NOTHING
            return self._known.get((id(module.scope(node)), node.value))
        has_values = getattr(type(self), "_" + kind.__name__, None) is not None
        return self._known.get(id(node)) if has_values else OTHER

    def once(self, what, node, compute, *arguments):
        """The set that `compute` returns, computed once for something of a node."""
        key, known = (what, id(node)), self._known
        if key in known:
            return known[key]
        self._nodes.append(node)
        return self._values.solve(key, compute, *arguments)

    def is_only(self, module, node, kind):
        """Whether an expression can be nothing but an object of a kind."""
        return self.values(module, node) == {("is", kind)}

    def may_be(self, module, node, kind):
        """Whether an expression may be of a kind, among others."""
        return ("is", kind) in self.values(module, node)

    def tensorflow_name(self, module, node):
        """The dotted name below ``tf`` that an expression can only be, or None."""
        found = self.values(module, node)
        if len(found) != 1:
            return None
        (value,) = found
        return value[1] if value[0] == "tf" else None

    def tensorflow_names(self, module, node):
        """All dotted names below ``tf`` that an expression may be, a set."""
        return {value[1] for value in self.values(module, node) if value[0] == "tf"}

    def global_values(self, module, name):
        """The values of a module's own name."""
        return self._named(module, module.global_scope(), name)

    def _named(self, module, scope, name):
        key = id(scope), name
        if key in self._known:
            return self._known[key]
        return self._values.solve(key, self._of_name, module, scope, name)

    def _of_name(self, module, scope, name):
        assignments = scope[name]
        if len(assignments) == 1:
            return self.assigned(module, assignments[0])
        if assignments:
            return set().union(*[self.assigned(module, each) for each in assignments])
        found = set()
        if scope is not module.global_scope():
            return self.global_values(module, name)
        for path in imported_values.star_imports(self, module):
            other = self.codebase.module(path)
            found |= self.global_values(other, name) if other else UNKNOWN
        found |= imported_values.starred(module, name)
        return found or UNKNOWN

    # Expressions.

    def _Attribute(self, module, node):
        name, values = node.attr.value, self.values(module, node.value)
        if name == "__class__":
            return members.class_of(values)
        if len(values) == 1:
            (value,) = values
            return members.attribute(self, value, name)
        return set().union(*[members.attribute(self, value, name) for value in values])

    def _Call(self, module, node):
        if last_word(node.func) == "importorskip":
            return builtin_calls.imported(node)
        name = builtin_calls.builtin_name(module, node.func)
        if name:
            return builtin_calls.result(self, module, node, name)
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
        if isinstance(assignment, bindings.BuiltinAssignment):
            return OTHER
        if isinstance(assignment, bindings.ImportAssignment):
            return imported_values.of_import(self, module, assignment)
        node = assignment.node
        kind = type(node)
        if kind is cst.FunctionDef:
            return frozenset([("function", module, node, False)])
        if kind is cst.ClassDef:
            return frozenset([("class", module, node)])
        if module.said_kind(node):
            return _said(module, node)
        if kind is cst.Param:
            return parameters.values(self, module, node)
        return self.target(module, node)

    def target(self, module, node):
        """The values of what is assigned to a Name or Attribute that is a target."""
        if module.said_kind(node):
            return _said(module, node)
        parent = module.parent(node)
        kind = type(parent)
        if kind is cst.AssignTarget:
            value = module.parent(parent).value
            if type(value) is cst.Name and value.value == last_word(node):
                scope = module.scope(node)  # of ``class A: tf = tf`` the one around it
                return self._named(module, scope.parent if scope.is_class else scope, value.value)
            return self.values(module, value)
        if kind is cst.AnnAssign:
            return self._annotated(module, parent)
        if kind is cst.NamedExpr:
            return self.values(module, parent.value)
        if kind is cst.AsName and isinstance(module.parent(parent), cst.WithItem):
            entered = self.values(module, module.parent(parent).item)
            return OTHER if entered == OTHER else UNKNOWN
        if kind is cst.For or kind is cst.CompFor:
            return containers.elements(self, module, parent.iter)
        if kind is cst.Element:
            return self._unpacked(module, parent)
        return UNKNOWN

    def _annotated(self, module, statement):
        found = NOTHING if statement.value is None else self.values(module, statement.value)
        return found - UNKNOWN or self.of_annotation(module, statement.annotation)

    def of_annotation(self, module, annotation):
        """The values that a type annotation promises."""
        node = annotation.annotation
        if isinstance(node, cst.SimpleString):
            return self._promised(self._of_text(module, node))
        if isinstance(node, cst.Subscript) and last_word(node.value) == "Optional":
            node = node.slice[0].slice.value
        if builtin_calls.builtin_name(module, node) == "object":
            return UNKNOWN  # it promises nothing
        return self._promised(self.values(module, node))

    def _promised(self, classes):
        """The values of instances of classes."""
        found = set()
        for value in classes:
            if value[0] in ("tf", "class"):
                found |= members.result(self, value)
            else:
                found |= OTHER if value == ("other",) else UNKNOWN
        return frozenset(found)

    def annotated_names(self, module, string):
        """The names below ``tf`` that an annotation in a string spells with dots, sorted.

        What binds a name without dots is what changes.
        """
        return sorted(
            value[1]
            for dotted in _WORDS.findall(str(string.evaluated_value))
            if "." in dotted
            for value in self._of_words(module, string, dotted)
            if value[0] == "tf"
        )

    def _of_text(self, module, string):
        """The values of a dotted name that is written as a string."""
        dotted = _DOTTED.match(str(string.evaluated_value))
        return UNKNOWN if dotted is None else self._of_words(module, string, dotted.group(1))

    def _of_words(self, module, string, dotted):
        first, *rest = dotted.split(".")
        found = self._named(module, module.scope(string), first)
        for name in rest:
            found = {each for value in found for each in members.attribute(self, value, name)}
        return found

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


def _said(module, node):
    """What a mark says that a definition is."""
    kind = module.said_kind(node)
    return OTHER if kind == marks.OTHER else frozenset([("is", kind)])
