"""Members of strategies whose names many other objects have: ``d.update(x)``, ``match.group(1)``.

Which arguments a strategy's own takes tells most of them apart where they stand: whose they are
need not be followed.
"""

from __future__ import annotations

import ast
from typing import Any

from tpudist.surfaces.eras.names import is_called_like_a_strategy
from tpudist.surfaces.eras.walks import last_word

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


def is_call_of_others(call: Any, func: ast.Attribute) -> bool:
    """Whether a node is called, with arguments that no strategy's member of its name takes.

    Args:
      call: the node around `func`.
      func: an Attribute.
    """
    if type(call) is not ast.Call or call.func is not func:
        return False
    keywords = [each.arg for each in call.keywords]
    if None in keywords or any(type(each) is ast.Starred for each in call.args):
        return False
    if is_called_like_a_strategy(last_word(func.value)):
        return False
    if func.attr in _WITHOUT_ARGUMENTS:
        return bool(call.args or keywords)
    needed = _NEEDED.get(func.attr, ())[len(call.args) :]
    is_literal = bool(call.args) and type(call.args[0]) is ast.Constant
    return not set(needed).issubset(keywords) or is_literal and func.attr == "group"
