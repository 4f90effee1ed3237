"""Evaluates calls of Python's built-in functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tpudist.surfaces.eras import walks
from tpudist.tools.migrate.resolution import members, tensorflow_names
from tpudist.tools.migrate.resolution.fixed_point import OTHER, UNKNOWN, Values
from tpudist.tools.migrate.resolution.module import Module

if TYPE_CHECKING:
    from typing import Iterable

    from tpudist.tools.migrate.resolution.evaluate import Evaluator

#: Functions that may return an argument, or an object that is kept elsewhere.
_GIVING_BACK = frozenset("eval getattr globals locals max min next super type vars".split())
#: Functions that import a module by its name.
IMPORTING = ("importorskip", "import_module")


def builtin_name(module: Module, node: Any) -> str:
    """The name of the builtin that a Name is, "" of anything else."""
    if type(node) is not ast.Name:
        return ""
    found = module.scope(node)[node.id]
    return node.id if found and all(each.is_builtin for each in found) else ""


def result(evaluator: Evaluator, module: Module, call: ast.Call, name: str) -> Iterable[Any]:
    """The values of a call of a builtin: unknown if it may be something that was passed in."""
    member = walks.text(call.args[1]) if name == "getattr" and len(call.args) > 1 else None
    if member is not None:
        owner = evaluator.values(module, call.args[0])
        found = [members.attribute(evaluator, each, member) for each in owner]
        return set().union(*found, *(evaluator.values(module, each) for each in call.args[2:]))
    if name == "__import__":
        return imported(call, above=True)
    return UNKNOWN if name in _GIVING_BACK else OTHER


def imported(call: ast.Call, above: bool = False) -> Values:
    """The values of ``importlib.import_module("tensorflow.a")`` and its kin.

    ``__import__`` gives the package that a module is in, which is `above` it.
    """
    name = text(call.args[0]) if call.args else None
    name = name.split(".")[0] if name and above else name
    below = tensorflow_names.spelled_below(name or "")
    return UNKNOWN if below is None else frozenset([tensorflow_names.value(below)])


def text(node: Any) -> str | None:
    """The text of a literal, or of a sum of some; None of anything else."""
    if type(node) is ast.BinOp and type(node.op) is ast.Add:
        first, second = text(node.left), text(node.right)
        return None if first is None or second is None else first + second
    return walks.text(node)
