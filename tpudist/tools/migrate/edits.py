"""Collects edits to a source, and applies them at once."""

from __future__ import annotations

import bisect
from typing import NamedTuple

from tpudist.tools.migrate.resolution import sources

_AFTER, _BEFORE, _INSTEAD = range(3)  # the order of what happens at one place


class _Edit(NamedTuple):
    start: int
    order: int
    around: int
    number: int
    end: int
    text: str
    piece: tuple[int, int]  # what it changes, or stands around
    drops_comments: bool = False


class OverlapError(Exception):
    """Two edits change the same text, and neither holds the other."""


class Edits:
    """The edits to the text of a source."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[_Edit] = []

    def __len__(self) -> int:
        return len(self._found)

    def undo(self, count: int) -> None:
        """Drops all edits but the first `count`."""
        del self._found[count:]

    def replace(self, start: int, end: int, text: str) -> None:
        """Replaces a piece of the source, and drops the edits inside it."""
        self._found.append(_Edit(start, _INSTEAD, 0, len(self), end, text, (start, end)))

    def remove(self, start: int, end: int) -> None:
        """Removes a piece of the source."""
        self.replace(start, end, "")

    def remove_lines(self, start: int, end: int) -> None:
        """Removes whole lines, with the comments on them."""
        self._found.append(_Edit(start, _INSTEAD, 0, len(self), end, "", (start, end), True))

    def wrap(self, start: int, end: int, before: str, after: str) -> None:
        """Puts text before and after a piece, which may be changed itself."""
        size, piece = end - start, (start, end)
        self._found.append(_Edit(start, _BEFORE, -size, len(self), start, before, piece))
        self._found.append(_Edit(end, _AFTER, size, len(self), end, after, piece))

    def insert(self, place: int, text: str) -> None:
        """Puts text at a place; of several, in the order in which they come."""
        last = len(self._text)
        self._found.append(_Edit(place, _AFTER, last, len(self), place, text, (place, place)))

    def applied(self) -> str:
        """The source with all changes; comments that none keeps stand above its statement."""
        parts, last = [], 0
        replaced = [each for each in self._found if each.order == _INSTEAD]
        outer = _outermost(replaced)
        starts = [each.start for each in outer]
        kept = []
        for each in self._found:
            first, last_ = each.piece
            is_point = first == last_ and each.order != _INSTEAD
            index = (bisect.bisect_left if is_point else bisect.bisect)(starts, first)
            if not index or not _is_inside(each, outer[index - 1]):
                kept.append(each)
        for each in sorted([*kept, *self._comments(outer)]):
            if each.start < last:
                raise OverlapError()
            parts += [self._text[last : each.start], each.text]
            last = each.end
        return "".join(parts) + self._text[last:]

    def _comments(self, outer: list[_Edit]) -> list[_Edit]:
        """Puts comments that edits remove above the lines that those begin on."""
        kept: list[_Edit] = []
        for each in outer:
            if each.drops_comments:
                continue
            texts = sources.TEXTS.finditer(self._text, each.start, each.end)
            for comment in (found.group() for found in texts):
                if comment[0] == "#" and comment not in each.text:
                    line = self._line_above(each, outer)
                    rest = self._text[line:]
                    indent = rest[: len(rest) - len(rest.lstrip(" \t"))]
                    text = indent + comment + "\n"
                    number = len(self._found) + len(kept)
                    kept.append(_Edit(line, _AFTER, 0, number, line, text, (line, line)))
        return kept

    def _line_above(self, edit: _Edit, outer: list[_Edit]) -> int:
        """The start of the line of an edit, or of that of another edit in which it begins."""
        line = self._text.rfind("\n", 0, edit.start) + 1
        around = next((each for each in outer if each.start < line <= each.end), None)
        return line if around is None else self._line_above(around, outer)


def _outermost(replaced: list[_Edit]) -> list[_Edit]:
    """The edits that are inside no other one, in the order of the text."""
    found: list[_Edit] = []
    for each in sorted(replaced, key=lambda each: (each.start, -each.end, -each.number)):
        if not found or not _is_inside(each, found[-1]):
            found.append(each)
    return found


def _is_inside(edit: _Edit, outer: _Edit) -> bool:
    """Whether what an edit changes, or stands around, is within what another one replaces."""
    if edit is outer:
        return False
    (first, last), same = edit.piece, edit.piece == outer.piece
    if same:
        return edit.order == _INSTEAD and edit.number < outer.number
    if first == last and edit.order != _INSTEAD:
        return outer.start < first < outer.end
    return outer.start <= first and last <= outer.end
