"""Walking Python's own syntax trees, several times as fast as ``ast.walk`` does.

What a node holds is asked of its class once; operators, contexts and the names that
import statements list are passed over.
"""

from __future__ import annotations

import ast
import collections
from typing import Any, Dict, List, Tuple

#: Fields that hold no nodes, or none that anybody asks for.
_OTHER = frozenset(
    """arg asname attr conversion ctx id is_async kind kwd_attrs level module n name
    names op ops rest s simple str type_comment type_ignores""".split()
)
IMPORTS = (ast.Import, ast.ImportFrom)
_LEAVES = frozenset("Bytes Constant Ellipsis NameConstant Num Str".split())


class _Fields(Dict[type, Tuple[str, ...]]):
    """{class of nodes: the fields in which one has others, the last one first}."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        names = () if kind.__name__ in _LEAVES else getattr(kind, "_fields", ())
        self[kind] = tuple(name for name in reversed(names) if name not in _OTHER)
        return self[kind]


_fields = _Fields()


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
    found: list[Any] = []
    for name in _fields[type(node)]:
        part = getattr(node, name)
        if type(part) is list:
            found += part[::-1]
        elif part is not None:
            found.append(part)
    return [each for each in found if each is not None] if None in found else found


def imported(node: Any) -> tuple[str | None, int, list[tuple[str, str | None]]]:
    """(module, level, [(name, as)]) of an import statement; module is None without ``from``."""
    names = [(alias.name, alias.asname) for alias in node.names]
    if isinstance(node, ast.Import):
        return None, 0, names
    return node.module or "", node.level, names


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
