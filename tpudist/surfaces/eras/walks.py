"""Walking Python's own syntax trees, several times as fast as ``ast.walk`` does.

What a node holds is asked of its class once; operators, contexts and the names that
import statements list are passed over.
"""

from __future__ import annotations

import ast
import collections
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from typing import Callable

#: Fields that hold no nodes, or none that anybody asks for.
_OTHER = frozenset(
    """arg asname attr conversion ctx id is_async kind kwd_attrs level module n name
    names op ops rest s simple str type_comment type_ignores""".split()
)
IMPORTS = (ast.Import, ast.ImportFrom)
_LEAVES = frozenset("Bytes Constant Ellipsis NameConstant Num Str".split())
_parts: dict[type, Callable[[Any], tuple[Any, ...]] | None] = {}


class Nodes(List[Any]):
    """Some nodes, of which those of a class are looked for once, whoever asks for them."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[type, list[Any]] = {}

    def of(self, *kinds: type) -> list[Any]:
        """The nodes of some classes: those of each in the order in which they are here."""
        if not self._kinds:
            every: dict[type, list[Any]] = collections.defaultdict(list)
            for node in self:
                every[type(node)].append(node)
            self._kinds = dict(every)
        nodes = [self._kinds.get(kind, []) for kind in kinds]
        return nodes[0] if len(nodes) == 1 else [node for each in nodes for node in each]


def nodes(tree: ast.AST) -> Nodes:
    """A node and all below it, each before what is below it."""
    nodes = Nodes()
    todo: list[Any] = [tree]
    while todo:
        node = todo.pop()
        nodes.append(node)
        todo += children(node)
    return nodes


def children(node: Any) -> list[Any]:
    """The nodes right below a node, the last one first."""
    kind = type(node)
    if kind not in _parts:
        _parts[kind] = _getter(kind)
    parts = _parts[kind]
    found: list[Any] = []
    for part in parts(node) if parts is not None else ():
        if type(part) is list:
            found += part[::-1]
        else:
            found.append(part)
    return [each for each in found if each is not None]


def imported(node: Any) -> tuple[str | None, int, list[tuple[str, str | None]]]:
    """(module, level, [(name, as)]) of an import statement; module is None without ``from``."""
    names = [(alias.name, alias.asname) for alias in node.names]
    if isinstance(node, ast.Import):
        return None, 0, names
    return node.module or "", node.level, names


def _getter(kind: type) -> Callable[[Any], tuple[Any, ...]] | None:
    """A function from a node of a class to what its fields hold, the last one first, if any do."""
    fields = [] if kind.__name__ in _LEAVES else list(getattr(kind, "_fields", ()))
    values = ["node.%s, " % name for name in reversed(fields) if name not in _OTHER]
    if not values:
        return None
    space: dict[str, Any] = {}
    exec("def parts(node):\n    return (%s)" % "".join(values), space)
    made: Callable[[Any], tuple[Any, ...]] = space["parts"]
    return made


def owner_of_members(node: Any) -> Any:
    """What ``vars(x)`` and ``x.__dict__`` are of; None of anything else.

    Args:
      node: any node.
    """
    if type(node) is ast.Attribute and node.attr == "__dict__":
        return node.value
    is_vars = type(node) is ast.Call and getattr(node.func, "id", "") == "vars"
    return node.args[0] if is_vars and len(node.args) == 1 else None


def text(node: Any) -> str | None:
    """The text of a literal, None of anything else (Python 3.7 has ``ast.Str``)."""
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    value = getattr(node, "s", value) if type(node).__name__ == "Str" else value
    return value if isinstance(value, str) else None


def last_word(node: Any) -> str:
    """The last identifier of ``a.b.c``, "" of anything else."""
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""


def written(node: Any) -> str:
    """ "a.b.c" of a Name or Attribute; ".b.c" if it begins with anything else."""
    words = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return ".".join([getattr(node, "id", "")] + words[::-1])


def index_of(node: Any) -> Any:
    """What stands in the brackets of a Subscript; before Python 3.9 in an Index."""
    is_index = type(node.slice).__name__ == "Index"
    return node.slice.value if is_index else node.slice
