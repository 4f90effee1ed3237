"""Evaluates expressions through imports, variables and calls.

Values are small tuples, and an expression has a set of them:

    ("tf", "distribute.ReduceOp", v1)  a name below ``tf``, or below ``tf.compat.v1``
    ("is", "strategy")                 an object of a kind of `surfaces.DESCRIPTIONS`
    ("method", "strategy", "unwrap")   a method of such an object
    ("function", module, node, bound)  a function of the code base
    ("class", module, node)            a class of the code base
    ("object", module, node)           an instance of one
    ("module", module)                 a file of the code base
    ("unread", "a.b")                  a module that is not in the code base
    ("tuple", module, node)            a tuple that is written out
    ("other",)                         something else
    ("unknown",)                       anything

None is no value: ``strategy = None`` says nothing. What is in something else is not followed, but
for ``a, b = c, d`` and ``for a in (b, c)``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Callable, Iterator

from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate.resolution import imported_values, members, tensorflow_names
from tpudist.tools.migrate.resolution.codebase import CodeBase
from tpudist.tools.migrate.resolution.fixed_point import NOTHING, OTHER, UNKNOWN, FixedPoint, Values
from tpudist.tools.migrate.resolution.module import FUNCTIONS, Module, is_none
from tpudist.tools.migrate.resolution.scopes import Binding, Scope

if TYPE_CHECKING:
    from typing import Iterable


#: The value of what a layer gives of a symbolic input.
SYMBOLIC: Values = frozenset([("is", "keras_tensor")])
#: {kind: that of its elements}.
ELEMENTS = {"keras_tensor": "keras_tensor", "layers": "layer", "metrics": "metric"}


class Evaluator:
    """Finds the values of expressions; `wants_v1` says whether a file is TensorFlow 1's."""

    def __init__(self, codebase: CodeBase, wants_v1: Callable[[str], bool]) -> None:
        self.codebase, self.wants_v1 = codebase, wants_v1
        self._values = FixedPoint()

    def values(self, module: Module, node: Any) -> Values:
        """The values that an expression may have; none if it is None, or only depends on itself."""
        kind = type(node)
        if kind is ast.Name:
            return self._named(module, module.scope(node), node.id)
        if is_none(node):
            return NOTHING
        if kind not in _METHODS:
            return OTHER
        return self._values.solve(node, _METHODS[kind], self, module, node)

    def once(self, what: Any, node: Any, compute: Callable[..., Any], *arguments: Any) -> Values:
        """The set that `compute` returns, computed once for `what` of a node."""
        return self._values.solve((what, node), compute, *arguments)

    def tensorflow_name(self, module: Module, node: Any) -> str | None:
        """The dotted name below ``tf`` that an expression can only be, or None."""
        return tensorflow_names.only(self.values(module, node))

    def is_v1(self, module: Module, node: Any) -> bool:
        """Whether an expression may be a name of ``tf.compat.v1``, by any file's import."""
        return any(value[0] == "tf" and value[2] for value in self.values(module, node))

    def has_v1(self, module: Module) -> bool:
        """Whether ``tf`` in a module is that of ``tf.compat.v1``, or becomes it."""
        is_v1 = any(value[0] == "tf" and value[2] for value in self.global_values(module, "tf"))
        return is_v1 or self.wants_v1(module.path)

    def global_values(self, module: Module, name: str) -> Values:
        """The values of a module's own name."""
        return self._named(module, module.global_scope(), name)

    def _named(self, module: Module, scope: Scope, name: str) -> Values:
        return self._values.solve((scope, name), self._of_name, module, scope, name)

    def _of_name(self, module: Module, scope: Scope, name: str) -> Iterable[Any]:
        bindings = scope[name]
        if bindings:
            return set().union(*[self.bound(module, each) for each in bindings])
        if scope is not module.global_scope():
            return self.global_values(module, name)
        found: set[Any] = set()
        for path in imported_values.star_imports(self, module):
            other = self.codebase.module(path)
            found |= self.global_values(other, name) if other else UNKNOWN
        found |= imported_values.starred(module, name)
        return found or UNKNOWN

    # Expressions.

    def _attribute(self, module: Module, node: ast.Attribute) -> Iterable[Any]:
        values = self.values(module, node.value)
        return set().union(*[members.attribute(self, value, node.attr) for value in values])

    def _call(self, module: Module, node: ast.Call) -> Iterable[Any]:
        if last_word(node.func) in IMPORTING:
            return _imported_by_name(node)
        if "lazy" in last_word(node.func).lower() and node.args:
            below = tensorflow_names.spelled_below(walks.text(node.args[-1]) or "")
            return UNKNOWN if below is None else [tensorflow_names.value(below)]
        name = _builtin_name(module, node.func)
        if name == "getattr" and len(node.args) > 1 and walks.text(node.args[1]) is not None:
            owner, member = self.values(module, node.args[0]), walks.text(node.args[1]) or ""
            found = [members.attribute(self, each, member) for each in owner]
            return set().union(*found, *(self.values(module, each) for each in node.args[2:]))
        if name:
            unknown = UNKNOWN if name in _GIVING_BACK else OTHER
            return _imported_by_name(node, above=True) if name == "__import__" else unknown
        values = self.values(module, node.func)
        if any(members.computes(self, each) for each in values) and self.is_symbolic(module, node):
            return SYMBOLIC
        return set().union(*[members.result(self, value) for value in values])

    def is_symbolic(self, module: Module, call: ast.Call) -> bool:
        """Whether an argument of a call is the output of a layer, or a list with one."""
        passed = [*call.args, *(each.value for each in call.keywords)]
        inner = [each for node in passed for each in getattr(node, "elts", [node])]
        return any(self.values(module, each) >= SYMBOLIC for each in inner)

    def _operation(self, module: Module, node: Any) -> Iterable[Any]:
        operands = (node.left, node.right) if type(node) is ast.BinOp else (node.operand,)
        return SYMBOLIC if any(self.values(module, e) >= SYMBOLIC for e in operands) else OTHER

    def _subscript(self, module: Module, node: ast.Subscript) -> Iterable[Any]:
        return self._elements(self.values(module, node.value)) or UNKNOWN

    def _elements(self, values: Values) -> Values:
        """The elements of the lists of some objects of Keras; a part of a layer's output is one."""
        return frozenset(
            ("is", ELEMENTS[v[1]]) for v in values if v[0] == "is" and v[1] in ELEMENTS
        )

    def _either(self, module: Module, node: Any) -> Iterable[Any]:
        inner = node.values if type(node) is ast.BoolOp else [node.body, node.orelse]
        return set().union(*[self.values(module, each) for each in inner])

    # What binds a name.

    def bound(self, module: Module, binding: Binding) -> Values:
        """The values that one binding may assign to its name."""
        if binding.is_builtin:
            return OTHER
        if binding.is_import:
            return imported_values.of_import(self, module, binding)
        node = binding.node
        kind = type(node)
        if kind in FUNCTIONS:
            return frozenset([("function", module, node, False)])
        if kind is ast.ClassDef:
            return frozenset([("class", module, node)])
        return self.target(module, node)

    def target(self, module: Module, node: Any) -> Values:
        """The values of a parameter, or of what is assigned to a Name or Attribute."""
        said = module.marks.values(node.lineno)
        if said is not None:
            return said
        if type(node) is ast.arg:
            return _of_parameter(self, module, node)
        parent = module.parent(node)
        kind = type(parent)
        if kind is ast.Assign:
            value = parent.value
            if type(value) is ast.Name and value.id == last_word(node):
                scope = module.scope(node)  # of ``class A: tf = tf`` the one around it
                outer = scope.parent if scope.is_class else scope
                return self._named(module, outer or scope, value.id)
            return self.values(module, value)
        if kind is ast.AnnAssign:
            found = NOTHING if parent.value is None else self.values(module, parent.value)
            return found - UNKNOWN or self.of_annotation(module, parent.annotation)
        if kind is ast.NamedExpr:
            return self.values(module, parent.value)
        if kind is ast.withitem:
            entered = self.values(module, parent.context_expr)
            return OTHER if entered == OTHER else UNKNOWN
        if kind in (ast.Tuple, ast.List):
            return self._unpacked(module, parent, parent.elts.index(node))
        if kind in (ast.For, ast.AsyncFor, ast.comprehension):
            if type(parent.iter) in (ast.Tuple, ast.List) and not _has_star(parent.iter):
                return NOTHING.union(*[self.values(module, each) for each in parent.iter.elts])
            return self._elements(self.values(module, parent.iter)) or UNKNOWN
        return UNKNOWN

    def of_annotation(self, module: Module, node: Any) -> Values:
        """The values that a type annotation promises."""
        text = walks.text(node)
        if text is not None:  # with the names of the module
            try:
                node = ast.parse(text.strip(), mode="eval").body
            except (SyntaxError, ValueError, RecursionError):
                node = None
        if type(node) is ast.Subscript and last_word(node.value) == "Optional":
            node = walks.index_of(node)
        if node is None or _builtin_name(module, node) == "object":
            return UNKNOWN  # it promises nothing
        found: set[Any] = set()
        for value in self.values(module, node):
            if value[0] in ("tf", "class"):
                found |= members.result(self, value)
            else:
                found |= OTHER if value == ("other",) else UNKNOWN
        return frozenset(found)

    def _unpacked(self, module: Module, target: Any, index: int) -> Values:
        """The values of an element of ``a, b = ...``."""
        statement = module.parent(target)
        if type(statement) is not ast.Assign or _has_star(target):
            return UNKNOWN
        found: set[Any] = set()
        for value in self.values(module, statement.value):
            if value[0] != "tuple" or len(value[2].elts) != len(target.elts):
                return UNKNOWN
            found |= self.values(value[1], value[2].elts[index])
        return frozenset(found)


def _has_star(node: Any) -> bool:
    return any(type(each) is ast.Starred for each in node.elts)


_METHODS: dict[type, Any] = {
    ast.Attribute: Evaluator._attribute,
    ast.Call: Evaluator._call,
    ast.IfExp: Evaluator._either,
    ast.BoolOp: Evaluator._either,
    ast.Lambda: lambda self, module, node: [("function", module, node, False)],
    ast.Tuple: lambda self, module, node: OTHER if _has_star(node) else [("tuple", module, node)],
    ast.NamedExpr: lambda self, module, node: self.values(module, node.value),
    ast.Subscript: Evaluator._subscript,
    **dict.fromkeys((ast.BinOp, ast.UnaryOp), Evaluator._operation),
    **dict.fromkeys((ast.Await, ast.Yield, ast.YieldFrom), lambda *_: UNKNOWN),
}


_ANY = ("", "Any", "object")  # annotations that say nothing; "" is that of a string
_NOWHERE = -9
_STRATEGY: Values = frozenset([("is", "strategy")])


def _of_parameter(evaluator: Evaluator, module: Module, param: ast.arg) -> Values:
    """The values of a parameter; unknown if no call of its function is found."""
    function = module.around(param, (*FUNCTIONS, ast.Lambda))
    if param in (function.args.vararg, function.args.kwarg):
        return UNKNOWN
    if type(function) is ast.Lambda:
        call, positional = module.parent(function), function.args.posonlyargs + function.args.args
        is_first = positional[:1] == [param]
        return _STRATEGY if is_first and _merges(evaluator, module, call, function) else UNKNOWN
    annotated: Values = frozenset()
    if param.annotation is not None:
        annotated = evaluator.of_annotation(module, param.annotation)
    if annotated and ("unknown",) not in annotated and ("other",) not in annotated:
        return annotated
    owner = module.around(function, (*FUNCTIONS, ast.ClassDef))
    decorators = [last_word(each) for each in function.decorator_list]
    is_method = type(owner) is ast.ClassDef and "staticmethod" not in decorators
    every, arguments = [*function.args.posonlyargs, *function.args.args], function.args
    index = every.index(param) if param in every else _NOWHERE
    if is_method and index == 0:
        return frozenset([("object", module, owner)])
    found: set[Any] = set()
    defaults = list(zip(every[::-1], arguments.defaults[::-1]))
    for each, default in [*defaults, *zip(arguments.kwonlyargs, arguments.kw_defaults)]:
        if each is param and default is not None:
            found |= evaluator.values(module, default)
    passed = list(_passed(evaluator, module, function, owner, index - is_method, param))
    if passed:
        return frozenset(found).union(*passed)
    is_other = annotated == OTHER and last_word(param.annotation) not in _ANY
    return frozenset(found) | (OTHER if is_other else UNKNOWN)


def _passed(
    evaluator: Evaluator, module: Module, function: Any, owner: Any, index: int, param: ast.arg
) -> Iterator[Values]:
    """The values that each call of a function passes for a parameter."""
    name = function.name
    if type(owner) is ast.ClassDef and name == "__init__":
        name = owner.name
    codebase = evaluator.codebase
    for path in sorted(codebase.leading_to(module.path)):
        if not codebase.may_call(path, name):
            continue
        where = module if path == module.path else codebase.module(path)
        if where is None:
            continue
        for call in where.calls_by_name.get(name, ()):
            argument = _argument(call, index, param.arg)
            if argument is not None and _is(evaluator, where, call.func, function, owner):
                yield evaluator.values(where, argument)
        for call in where.calls_by_name.get("merge_call", ()) if index == 0 else ():
            merged = call.args[0] if call.args else None
            if last_word(merged) == name and _is(evaluator, where, merged, function, owner):
                if _merges(evaluator, where, call, merged):
                    yield _STRATEGY


def _merges(evaluator: Evaluator, module: Module, call: Any, function: Any) -> bool:
    """Whether a call is ``context.merge_call(function, ...)``, which passes the strategy."""
    return (
        type(call) is ast.Call
        and call.args[:1] == [function]
        and ("method", "context", "merge_call") in evaluator.values(module, call.func)
    )


def _is(evaluator: Evaluator, module: Module, node: Any, function: Any, owner: Any) -> bool:
    return any(
        (value[0] == "function" and value[2] is function)
        or (value[0] == "class" and value[2] is owner)
        for value in evaluator.values(module, node)
    )


def _argument(call: ast.Call, index: int, name: str) -> ast.expr | None:
    """The argument for a parameter; None if it is not passed, or starred."""
    for position, each in enumerate(call.args):
        if type(each) is ast.Starred:
            return None
        if position == index:
            return each
    return next((each.value for each in call.keywords if each.arg == name), None)


#: Functions that may return an argument, or an object that is kept elsewhere.
_GIVING_BACK = frozenset("eval getattr globals locals max min next super type vars".split())
#: Functions that import a module by its name.
IMPORTING = ("importorskip", "import_module")


def _builtin_name(module: Module, node: Any) -> str:
    """The name of the builtin that a Name is, "" of anything else."""
    if type(node) is not ast.Name:
        return ""
    found = module.scope(node)[node.id]
    return node.id if found and all(each.is_builtin for each in found) else ""


def _imported_by_name(call: ast.Call, above: bool = False) -> Values:
    """The values of ``import_module(name)``; of ``__import__`` the package `above` it."""
    name = literal(call.args[0]) if call.args else None
    name = name.split(".")[0] if name and above else name
    below = tensorflow_names.spelled_below(name or "")
    return UNKNOWN if below is None else frozenset([tensorflow_names.value(below)])


def literal(node: Any) -> str | None:
    """The text of a literal, or of a sum of some; None of anything else."""
    if type(node) is ast.BinOp and type(node.op) is ast.Add:
        first, second = literal(node.left), literal(node.right)
        return None if first is None or second is None else first + second
    return walks.text(node)
