"""Uses are reported at their lines of the user's file, whatever earlier steps moved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpudist.tools.migrate import outcomes, program
from tpudist.tools.migrate.resolution import notebooks

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tools.migrate.resolution.sources import Source

_FAR = 20  # how many lines one statement may become
_BEGINNING = re.compile(r"\s*\w*")


class Places:
    """Places of one file, in the text that a step sees.

    Args:
      path: the file.
      source: its `Source`.
      text: the text after the steps before.
    """

    def __init__(self, path: str, source: Source, text: str) -> None:
        self._path = path
        self._cells = notebooks.cell_starts(source.text) if source.notebook else []
        before, after = source.text.split("\n"), text.split("\n")
        self._before = before
        self._lines = None if before == after else _old_lines(before, after)

    def _old_line(self, line: int) -> int:
        """The line of the file that a line of the step's text comes from; 0 stays 0."""
        return self._lines[line] if self._lines is not None and line else line

    def was_written(self, line: int, seen: str) -> bool:
        """Whether an earlier step wrote what is seen at a line of the step's text."""
        if self._lines is None or not line:
            return False
        first = self._old_line(line) - 1
        there = "".join("".join(self._before[first : first + _FAR]).split())
        return "".join(seen.split()) not in there

    def counted(
        self, done: list[outcomes.Use], record: tuple[int, int, str, str, str]
    ) -> list[outcomes.Use]:
        """The uses of earlier steps, with one of this step.

        Args:
          done: a list of Use.
          record: (line, column, rule, seen, instead) in the step's text.

        Returns:
          A list of Use. Where an earlier step wrote what is seen, it says what
          that has become.
        """
        use, (line, seen) = self.use(*record), (record[0], record[3])
        if not self.was_written(line, seen):
            return done + [use]
        name = seen.rpartition(".")[2]
        if not self.was_written(line, name):
            return done + [use._replace(seen=name)]
        return followed_up(done, use)

    def left(
        self, line: int, column: int, rule: str, seen: str, instead: str, once: bool = False
    ) -> outcomes.Use:
        """As `use`, of one that is left: it quotes what stood in the file."""
        code, _, why = seen.partition(": ")
        if why and self.was_written(line, code):
            seen = "%s: %s" % (self._before[self._old_line(line) - 1].strip(), why)
        return self.use(line, column, rule, seen, instead)._replace(once=once)

    def use(self, line: int, column: int, rule: str, seen: str, instead: str) -> outcomes.Use:
        """The `Use` at a place of the step's text."""
        line, path = self._old_line(line), self._path
        cells = [each for each in self._cells if each[0] <= line]
        if cells:
            path, line = "%s:cell %d" % (path, cells[-1][1]), line - cells[-1][0] + 1
        return outcomes.Use(path, line, column, rule, seen, instead)


def _old_lines(before: list[str], after: list[str]) -> dict[int, int]:
    """{line of the new text: line of the old}, both from 1.

    Most lines that a step changes stay where they are, some become several:
    ``difflib``, which looks for the longest run of equal lines, takes the
    square of the time. Where all lines around have changed, their beginnings
    are compared.
    """
    texts = before, after
    words = [_word(line) for line in before], [_word(line) for line in after]
    found: dict[int, int] = {}
    old = new = 0
    while new < len(after):
        gone = come = 1
        if old >= len(before) or before[old] != after[new]:
            differing = _until_equal(texts, old, new) or _until_equal(words, old, new)
            gone, come = differing or (1, 1)
        for index in range(come):
            inside = old + min(index, max(gone - 1, 0))
            found[new + index + 1] = min(inside, len(before) - 1) + 1
        old, new = old + gone, new + come
    return found


def _word(line: str) -> str:
    """The first word of a line, with the spaces before it."""
    beginning = _BEGINNING.match(line)
    return beginning.group() if beginning else ""


def _until_equal(texts: tuple[list[str], list[str]], old: int, new: int) -> tuple[int, int] | None:
    """How many lines of each text differ before two are equal again; None if none are."""
    before, after = texts
    for far in range(1, _FAR):
        for gone, come in [(far, far)] + [
            pair for near in range(far - 1, -1, -1) for pair in ((near, far), (far, near))
        ]:
            lines = before[old + gone : old + gone + 2]
            if any(map(str.strip, lines)) and lines == after[new + come : new + come + 2]:
                return gone, come
    return None


def set_aside(path: str, source: Source) -> list[outcomes.Use]:
    """The uses that are left because a notebook's line is not read as Python.

    Args:
      path: the file.
      source: its `Source`.

    Returns:
      A list of `Use`.
    """
    if not source.notebook:
        return []
    place = Places(path, source, source.text)
    return [
        place.use(
            line, 1, "notebook",
            "%s: %s" % (text.strip(), why or "a line of IPython's, which is kept as it is"),
            "write it in Python 3, or change it by hand",
        )
        for line, text, why in source.notebook.aside
        if "contrib" in text or program.names_legacy(text.encode("utf-8"))
    ]  # fmt: skip


def followed_up(done: list[outcomes.Use], later: outcomes.Use) -> list[outcomes.Use]:
    """Adds a later step's use of a name that an earlier step wrote to the use that wrote it.

    Args:
      done: the uses that earlier steps rewrote.
      later: the later step's `Use`.

    Returns:
      `done`, the use that wrote the name with what it has become instead.
    """
    word = later.seen.rpartition(".")[2]
    same = [each for each in done if (each.path, each.line) == (later.path, later.line)]
    wrote = [each for each in same if word in each.instead] or same
    if not wrote:
        return done
    new = wrote[0]._replace(instead=later.instead)
    return [new if each is wrote[0] else each for each in done]


def unchanged(done: Sequence[outcomes.Use]) -> tuple[list[outcomes.Use], list[outcomes.Use]]:
    """(the uses of a list that changed, those that are called as they were)."""
    same = [use for use in done if use.seen.rpartition(".")[2] == use.instead]
    others = [
        use._replace(rule=use.instead, seen="it is called so again", instead="") for use in same
    ]
    return [use for use in done if use not in same], others
