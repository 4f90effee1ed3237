"""Walks Python's syntax trees, several times as fast as ``ast.walk``.

What a node holds is asked of its class once; operators, contexts and the names that
import statements list are passed over.
"""

from __future__ import annotations

import ast
import itertools
import warnings
from typing import Any, Dict, Iterator, List, Tuple

#: Fields that hold no nodes, or none that anybody asks for.
_OTHER = frozenset(
    """arg asname attr conversion ctx id is_async kind kwd_attrs level module n name
    names op ops rest s simple str type_comment type_ignores""".split()
)
IMPORTS = (ast.Import, ast.ImportFrom)
_LEAVES = frozenset("Bytes Constant Ellipsis NameConstant Num Str".split())


class _Fields(Dict[type, Tuple[str, ...]]):
    """{class of nodes: its fields that hold nodes, the last one first}."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        names = () if kind.__name__ in _LEAVES else getattr(kind, "_fields", ())
        self[kind] = tuple(name for name in reversed(names) if name not in _OTHER)
        return self[kind]


_fields = _Fields()


class Nodes(Dict[type, List[Any]]):
    """The nodes of a tree by their class, those of a class in the order of the text."""

    def __init__(self) -> None:
        super().__init__()
        self._words: set[str] = set()

    def __missing__(self, kind: type) -> list[Any]:
        self[kind] = []
        return self[kind]

    def of(self, *kinds: type) -> list[Any]:
        """The nodes of some classes, one class after the other."""
        found = [self.get(kind, []) for kind in kinds]
        return found[0] if len(found) == 1 else list(itertools.chain(*found))

    def every(self) -> Iterator[Any]:
        """All nodes, one class after the other."""
        return itertools.chain(*self.values())

    @property
    def words(self) -> set[str]:
        """The names that are read or bound, and the attributes, whatever they are of."""
        if not self._words:
            self._words.update(node.id for node in self.of(ast.Name))
            self._words.update(node.attr for node in self.of(ast.Attribute))
        return self._words


def parse(source: str | bytes) -> ast.Module:
    """The syntax tree of a source, without the warnings of ``ast.parse``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def nodes(tree: ast.AST) -> Nodes:
    """A node and all below it."""
    found = Nodes()
    todo: list[Any] = [tree]
    while todo:
        node = todo.pop()
        kind = type(node)
        found[kind].append(node)
        for name in _fields[kind]:
            part = getattr(node, name)
            if type(part) is list:
                todo += part[::-1]
            elif part is not None:
                todo.append(part)
    found.pop(type(None), None)  # of ``{**a}``, which has no key
    return found


def parents(nodes: Nodes) -> dict[Any, Any]:
    """{node: the node right above it} of the nodes of a tree."""
    found: dict[Any, Any] = {}
    for kind, those in nodes.items():
        for name in _fields[kind]:
            for node in those:
                part = getattr(node, name)
                if type(part) is list:
                    found.update((each, node) for each in part)
                else:
                    found[part] = node
    found.pop(None, None)  # of what a node may have and has not
    return found


def owner_of_members(node: object) -> ast.expr | None:
    """The ``x`` of ``vars(x)`` and ``x.__dict__``; None of anything else.

    Args:
      node: any node.
    """
    if type(node) is ast.Attribute and node.attr == "__dict__":
        return node.value
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "vars":
        return node.args[0] if len(node.args) == 1 else None
    return None


def text(node: object) -> str | None:
    """The text of a literal, None of anything else (Python 3.7 has ``ast.Str``)."""
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    value = getattr(node, "s", value) if type(node).__name__ == "Str" else value
    return value if isinstance(value, str) else None


def last_word(node: object) -> str:
    """The last identifier of ``a.b.c``, "" of anything else."""
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""


def index_of(node: ast.Subscript) -> ast.expr:
    """The index of a Subscript, which before Python 3.9 is inside an ``ast.Index``."""
    index: ast.expr = getattr(node.slice, "value", node.slice)
    return index if type(node.slice).__name__ == "Index" else node.slice
