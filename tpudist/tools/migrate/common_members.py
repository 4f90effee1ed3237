"""Members of strategies whose names many other objects have: ``d.update(x)``, ``match.group(1)``.

Which arguments a strategy's own takes tells most of them apart where they stand: whose they are
need not be followed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.names import is_called_like_a_strategy
from tpudist.tools.migrate.resolution.module import last_word

if TYPE_CHECKING:
    from typing import Any, Iterable, Iterator

#: Told only of what is called like a strategy.
COMMON = (
    "run",
    "reduce",
    "update",
    "map",
    "initialize",
    "finalize",
    "broadcast",
    "group",
    "configure",
)
#: Names that settings and others have as well, beside strategies.
OF_OTHERS = (*COMMON, "steps_per_run", "num_hosts", "num_replicas")

#: {member: the parameters without a default that a strategy's has on every release}.
_NEEDED = {"update": ("var", "fn"), "map": ("map_over", "fn"), "group": ("value",)}
_WITHOUT_ARGUMENTS = ("initialize", "finalize")
_TOLD_APART = frozenset((*_NEEDED, *_WITHOUT_ARGUMENTS))
_LITERALS = (cst.Integer, cst.SimpleString)


def is_call_of_others(call: Any, func: Any) -> bool:
    """Whether a node is called, with arguments that no strategy's member of its name takes.

    Args:
      call: the libcst node around `func`.
      func: an Attribute.
    """
    if type(call) is not cst.Call or call.func is not func:
        return False
    arguments = [each.keyword and each.keyword.value for each in call.args]
    if any(each.star for each in call.args) or is_called_like_a_strategy(last_word(func.value)):
        return False
    literal = bool(call.args) and type(call.args[0].value) in _LITERALS
    return _is_of_others(func.attr.value, arguments, literal)


def of_others(calls: Iterable[ast.Call]) -> Iterator[ast.Attribute]:
    """What is called, of those calls of which `is_call_of_others` is true."""
    for call in calls:
        func = call.func
        if type(func) is ast.Attribute and func.attr in _TOLD_APART:
            arguments = [None] * len(call.args) + [each.arg or "**" for each in call.keywords]
            stars = "**" in arguments or any(type(each) is ast.Starred for each in call.args)
            first: Any = call.args[0] if call.args else None
            literal = type(first) is ast.Constant and type(first.value) in (int, str, bytes)
            if not stars and not is_called_like_a_strategy(walks.last_word(func.value)):
                if _is_of_others(func.attr, arguments, literal):
                    yield func


def _is_of_others(name: str, arguments: list[str | None], literal: bool) -> bool:
    """Of the keywords of a call's arguments, None of those without, and whether one is written."""
    if name in _WITHOUT_ARGUMENTS:
        return bool(arguments)
    needed = _NEEDED.get(name, ())[arguments.count(None) :]
    return not set(needed).issubset(arguments) or literal and name == "group"
