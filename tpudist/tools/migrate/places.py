"""Says where a use stands in the user's file; in a notebook, in which cell and line."""

from __future__ import annotations

from tpudist.tools.migrate import outcomes, program
from tpudist.tools.migrate.resolution import notebooks
from tpudist.tools.migrate.resolution.sources import Source


class Places:
    """Converts lines of one file's source into places as users see them."""

    def __init__(self, path: str, source: Source) -> None:
        self._path, self._notebook = path, source.notebook
        self._cells = notebooks.cell_starts(source.text) if source.notebook else []

    def use(
        self, line: int, column: int, rule: str, seen: str, instead: str, why: str = ""
    ) -> outcomes.Use:
        """The `Use` at a place of the file's source."""
        path = self._path
        cell = max((each for each in self._cells if each[0] <= line), default=None)
        if cell is not None:
            path, line = "%s:cell %d" % (path, cell[1]), line - cell[0] + 1
        return outcomes.Use(path, line, column, rule, seen, instead, why)

    def set_aside(self) -> list[outcomes.Use]:
        """A use for each line of a notebook that has a legacy name and is no Python."""
        told = "write it in Python 3, or change it by hand"
        ipythons = "a line of IPython's, which is kept as it is"
        return [
            self.use(line, 1, "notebook", text.strip(), told, why or ipythons)
            for line, text, why in (self._notebook.aside if self._notebook else ())
            if "contrib" in text or program.names_legacy(text.encode("utf-8"))
        ]
