"""The part of a file that a migration may change: reading only that is many times as fast.

In a file that no strategy can reach, a function without a name of contrib, an import or
another name that a rule asks for changes nothing, and nothing is told about it. It is
read as a string of as many lines, and put back afterwards.
"""

from __future__ import annotations

import array
import ast
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from tpudist.surfaces.eras import walks
from tpudist.tools.migrate import asked_lines, strategy_words
from tpudist.tools.migrate.handing_bytes import has_star
from tpudist.tools.migrate.resolution import python_trees

if TYPE_CHECKING:
    from typing import AbstractSet, Iterable, Iterator

    from tpudist.tools.migrate.resolution.sources import Source

Definition = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef]

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MARK = re.compile(r'"""tpudist:(\d+)\s*"""')


class Excerpt(NamedTuple):
    """What there is to read of a file.

    Args:
      text: its text, with what does not matter as strings.
      parts: what these stand for.
      words: names that those of TensorFlow begin with, or are kept under.
    """

    text: str
    parts: list[str]
    words: frozenset[str]


class Parts(NamedTuple):
    """Which part of a file there is to read.

    Args:
      unread: the first and the last line of each definition that does not matter.
      words: as of `Excerpt`.
      size: characters that the file has.
      members: as of `asked_lines.Asked`.
    """

    unread: array.array[int]
    words: frozenset[str]
    size: int
    members: frozenset[str]


class Reader:
    """Tells what there is to read of the files of a code base.

    Args:
      codebase: the `CodeBase`.
      survey: its `Survey`.
      whole: whether that is all of every file.
    """

    def __init__(self, codebase: Any, survey: Any, whole: bool) -> None:
        self._codebase, self._survey, self._whole = codebase, survey, whole

    def excerpt(self, path: str, source: Source) -> Excerpt | None:
        """What there is to read of a file, None for all."""
        if self._whole or source.notebook is not None or self._has_strategies(path):
            return None
        if path in self._codebase.borrowed or path in self._survey.mixed:
            return None
        carriers = self._survey.carriers
        if path in carriers.handing or carriers.unknown and has_star(self._codebase.bytes[path]):
            return None
        if path not in self._survey.excerpts:
            if strategy_words.uses_strategies(self._codebase.bytes[path]):
                return None
        return self._of(path, source.text)

    def short(self, path: str, source: Source) -> str:
        """The text to read of a file that one which is read in part imports."""
        if source.notebook is not None or self._has_strategies(path):
            return source.text
        excerpt = self._of(path, source.text)
        return source.text if excerpt is None else excerpt.text

    def _has_strategies(self, path: str) -> bool:
        """Whether strategies may reach a file, and it asks for what they have."""
        known = self._survey.excerpts.get(path)
        if path not in self._survey.strategic:
            return False
        return known is None or any(map(self._survey.may_be_members, known.members))

    def _of(self, path: str, text: str) -> Excerpt | None:
        known = self._survey.excerpts.get(path)
        lent = self._survey.carriers.lent(path)
        if lent or known is None or known.size != len(text):
            return of(text, lent)
        return made(text, known)


def of(text: str, lent: AbstractSet[str] = frozenset()) -> Excerpt | None:
    """The excerpt of a file that no strategy reaches.

    Args:
      text: its source.
      lent: words by which it has TensorFlow's names from other files.

    Returns:
      An Excerpt of as many lines, None if it has to be read whole.
    """
    if not _is_readable(text):
        return None
    try:
        tree = python_trees.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found = _parts_of(text, walks.nodes(tree), lent)
    return None if found is None else made(text, found)


def parts(text: str, nodes: walks.Nodes) -> Parts | None:
    """As `of`, of all nodes of a file, as of `walks.nodes`: for `made`."""
    return _parts_of(text, nodes, frozenset()) if _is_readable(text) else None


def made(text: str, found: Parts) -> Excerpt:
    """The excerpt of a source of which the parts are known."""
    lines, put = text.splitlines(True), []
    for index in range(0, len(found.unread), 2):
        _put_string(lines, *found.unread[index : index + 2], put)
    return Excerpt("".join(lines), put, found.words)


def _is_readable(text: str) -> bool:
    if sys.version_info < (3, 8):
        return False  # ast does not say where a definition ends
    count = len(text.splitlines())  # Python counts other lines, perhaps
    return count == text.count("\n") + (not text.endswith("\n")) and "tpudist:" not in text


def _parts_of(text: str, nodes: walks.Nodes, lent: AbstractSet[str]) -> Parts | None:
    asked = asked_lines.of(nodes, lent)
    if asked.words.isdisjoint(["tf", "tensorflow"]) or "*" in asked.words:
        return None  # what it takes for TensorFlow is not imported here by its name
    unread = [line for node in _unread(nodes[0].body[1:], asked.lines) for line in _lines(node)]
    return Parts(array.array("I", unread), asked.words, len(text), asked.members)


def restored(excerpt: Excerpt, text: str) -> str | None:
    """The text of a file whose excerpt has become `text`; None if a part of it is gone."""
    if _MARK.findall(text) != [str(index) for index in range(len(excerpt.parts))]:
        return None
    return _MARK.sub(lambda mark: excerpt.parts[int(mark.group(1))], text)


def _unread(body: Iterable[ast.stmt], kept: set[int]) -> Iterator[Definition]:
    """Functions, classes and methods without a line that is kept."""
    for node in body:
        if isinstance(node, _DEFINITIONS):
            first, last = _lines(node)
            if kept.isdisjoint(range(first, last + 1)):
                yield node
            elif isinstance(node, ast.ClassDef):
                yield from _unread(node.body, kept)


def _lines(node: Definition) -> tuple[int, int]:
    first = min([node.lineno] + [each.lineno for each in node.decorator_list])
    return first, node.end_lineno or first


def _put_string(lines: list[str], first: int, last: int, parts: list[str]) -> None:
    start = lines[first - 1]
    indent = start[: len(start) - len(start.lstrip(" \t"))]
    body = "".join(lines[first - 1 : last])[len(indent) :]
    part = body.rstrip("\r\n")
    end = body[len(part) :]
    mark = '%s"""tpudist:%d' % (indent, len(parts))
    if last == first:
        new = [mark + '"""' + end]
    else:
        new = [mark + "\n"] + ["\n"] * (last - first - 1) + ['"""' + end]
    parts.append(part)
    lines[first - 1 : last] = new
