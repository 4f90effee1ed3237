"""Evaluates a parameter by its annotation, its default, and every call found."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Iterator

from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate.resolution.fixed_point import OTHER, UNKNOWN, Values
from tpudist.tools.migrate.resolution.module import FUNCTIONS, Module

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution.evaluate import Evaluator

_ANY = ("", "Any", "object")  # annotations that say nothing; "" is that of a string
_NOWHERE = -9
_STRATEGY: Values = frozenset([("is", "strategy")])


def values(evaluator: Evaluator, module: Module, param: ast.arg) -> Values:
    """The values of a parameter; unknown if no call of its function is found."""
    function = module.around(param, (*FUNCTIONS, ast.Lambda))
    if param in (function.args.vararg, function.args.kwarg):
        return UNKNOWN
    if type(function) is ast.Lambda:
        call, first = module.parent(function), _index(function, param) == 0
        return _STRATEGY if first and _merges(evaluator, module, call, function) else UNKNOWN
    annotated: Values = frozenset()
    if param.annotation is not None:
        annotated = evaluator.of_annotation(module, param.annotation)
    if annotated and ("unknown",) not in annotated and ("other",) not in annotated:
        return annotated
    owner = module.around(function, (*FUNCTIONS, ast.ClassDef))
    decorators = [last_word(each) for each in function.decorator_list]
    is_method = type(owner) is ast.ClassDef and "staticmethod" not in decorators
    index = _index(function, param)
    if is_method and index == 0:
        return frozenset([("object", module, owner)])
    found: set[Any] = set()
    default = _default(function, param)
    if default is not None:
        found |= evaluator.values(module, default)
    passed = list(_passed(evaluator, module, function, owner, index - is_method, param))
    if passed:
        return frozenset(found).union(*passed)
    is_other = annotated == OTHER and last_word(param.annotation) not in _ANY
    return frozenset(found) | (OTHER if is_other else UNKNOWN)


def _every(function: Any) -> list[Any]:
    return [*function.args.posonlyargs, *function.args.args]


def _index(function: Any, param: ast.arg) -> int:
    every = _every(function)
    return every.index(param) if param in every else _NOWHERE


def _default(function: Any, param: ast.arg) -> ast.expr | None:
    every, arguments = _every(function), function.args
    pairs = list(zip(every[::-1], arguments.defaults[::-1]))
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults)
    return next((default for each, default in pairs if each is param), None)


def _passed(
    evaluator: Evaluator, module: Module, function: Any, owner: Any, index: int, param: ast.arg
) -> Iterator[Values]:
    """The values that each call of a function passes for a parameter."""
    name = function.name
    if type(owner) is ast.ClassDef and name == "__init__":
        name = owner.name
    for where in _callers(evaluator, module, name):
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


def _callers(evaluator: Evaluator, module: Module, name: str) -> Iterator[Module]:
    """Yields the modules that may call a function: they import its module, and call such a name."""
    codebase = evaluator.codebase
    for path in sorted(codebase.leading_to(module.path)):
        if codebase.may_call(path, name):
            found = module if path == module.path else codebase.module(path)
            if found is not None:
                yield found


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
