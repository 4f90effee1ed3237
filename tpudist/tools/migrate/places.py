"""Places are mapped back to the user's own file, over earlier steps and the cells of a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.tools.migrate import outcomes, program
from tpudist.tools.migrate.resolution import notebooks

if TYPE_CHECKING:
    from tpudist.tools.migrate.edits import Edits
    from tpudist.tools.migrate.resolution.module import Module
    from tpudist.tools.migrate.resolution.sources import Source

_FAR = 20  # lines of one statement


class Places:
    """Places of one file.

    Args:
      path: the file.
      source: its `Source`.
    """

    def __init__(self, path: str, source: Source) -> None:
        self._path, self._text = path, source.text
        self._cells = notebooks.cell_starts(source.text) if source.notebook else []
        self._changed: tuple[Module, Edits] | None = None

    def change(self, module: Module, edits: Edits) -> None:
        """Has later places be those of a changed text.

        Args:
          module: the `Module` of that text.
          edits: what made it of the file's own text.
        """
        self._changed = module, edits

    def use(
        self, line: int, column: int, rule: str, seen: str, instead: str, why: str = ""
    ) -> outcomes.Use:
        """The `Use` at a place; where a step wrote what is seen, it quotes the line before that."""
        if self._changed is not None:
            module, edits = self._changed
            place = edits.before(module.offset(line, 0) + column - 1)
            start = self._text.rfind("\n", 0, place) + 1
            line, column = self._text.count("\n", 0, place) + 1, place - start + 1
            there = self._text[start:].split("\n", _FAR)[:_FAR]
            if "".join(seen.split()) not in "".join("".join(there).split()):
                seen = there[0].strip()
        path = self._path
        cell = max((each for each in self._cells if each[0] <= line), default=None)
        if cell is not None:
            path, line = "%s:cell %d" % (path, cell[1]), line - cell[0] + 1
        return outcomes.Use(path, line, column, rule, seen, instead, why)


def set_aside(places: Places, source: Source) -> list[outcomes.Use]:
    """A use for each line of a notebook that has a legacy name and is no Python.

    Args:
      places: of the file, which no step has changed.
      source: its `Source`.
    """
    if not source.notebook:
        return []
    return [
        places.use(
            line,
            1,
            "notebook",
            text.strip(),
            "write it in Python 3, or change it by hand",
            why or "a line of IPython's, which is kept as it is",
        )
        for line, text, why in source.notebook.aside
        if "contrib" in text or program.names_legacy(text.encode("utf-8"))
    ]
