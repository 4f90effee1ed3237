"""What calls of Python's own functions return."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tpudist.surfaces.eras import walks
from tpudist.tools.migrate.resolution import members, tensorflow_names
from tpudist.tools.migrate.resolution.fixed_point import UNKNOWN

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution.evaluate import Evaluator
    from tpudist.tools.migrate.resolution.fixed_point import Values
    from tpudist.tools.migrate.resolution.module import Module

_OTHER: Values = frozenset([("other",)])
#: Functions that may give back what they are given, or something that is kept elsewhere.
_GIVING_BACK = ("eval", "globals", "locals", "max", "min", "next", "type", "vars")
#: Functions that import a module by its name.
IMPORTING = ("importorskip", "import_module")


def builtin_name(module: Module, node: Any) -> str:
    """The name of the builtin that a Name is, "" of anything else."""
    if type(node) is not ast.Name:
        return ""
    found = module.scope(node)[node.id]
    return node.id if found and all(each.is_builtin for each in found) else ""


def result(evaluator: Evaluator, module: Module, call: ast.Call, name: str) -> Any:
    """The values of a call of a builtin.

    Args:
      evaluator: the `Evaluator`.
      module: the `Module` of the call.
      call: the call.
      name: the builtin's name.

    Returns:
      A set of values; unknown if it may be something that was passed in.
    """
    if name == "getattr":
        return _attribute(evaluator, module, call)
    if name == "__import__":
        return imported(call, above=True)
    if name == "super":
        return _super(evaluator, module, call)
    return UNKNOWN if name in _GIVING_BACK else _OTHER


def _super(evaluator: Evaluator, module: Module, call: ast.Call) -> Any:
    """What ``super()`` gives in a method: an object of each class above."""
    owner = module.around(call, ast.ClassDef)
    found: set[Any] = set()
    for base in owner.bases if owner is not None else ():
        for value in evaluator.values(module, base):
            found |= members.result(evaluator, value)
    return found or (_OTHER if owner is not None and not owner.bases else UNKNOWN)


def imported(call: ast.Call, above: bool = False) -> Values:
    """The values of ``importlib.import_module("tensorflow.a")`` and its kin.

    Args:
      call: the call.
      above: whether it gives the package that a module is in, as ``__import__`` does.
    """
    name = text(call.args[0]) if call.args else None
    name = name.split(".")[0] if name and above else name
    below = tensorflow_names.below_tensorflow(name or "")
    return UNKNOWN if below is None else frozenset([("tf", below)])


def text(node: Any) -> str | None:
    """The text of a literal, or of a sum of some; None of anything else."""
    if type(node) is ast.BinOp and type(node.op) is ast.Add:
        first, second = text(node.left), text(node.right)
        return None if first is None or second is None else first + second
    return walks.text(node)


def named_member(call: ast.Call) -> tuple[Any, str] | None:
    """(what is asked, the member's name) of ``getattr(x, "name")`` and its kin; else None."""
    if len(call.args) < 2 or any(type(each) is ast.Starred for each in call.args[:2]):
        return None
    name = walks.text(call.args[1])
    return None if name is None else (call.args[0], name)


def _attribute(evaluator: Evaluator, module: Module, call: ast.Call) -> Any:
    named = named_member(call)
    if named is None:
        return UNKNOWN
    owner, name = named
    found: set[Any] = set()
    for value in evaluator.values(module, owner):
        found |= members.attribute(evaluator, value, name)
    if len(call.args) > 2:
        found |= evaluator.values(module, call.args[2])
    return found
