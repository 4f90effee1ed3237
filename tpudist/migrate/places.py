"""Where a use was in the file that the user has, whatever earlier steps moved."""

import difflib

from tpudist.migrate import outcomes
from tpudist.migrate import sources


class Places:
    """Places of one file, in the text that a step sees.

    Args:
      path: the file.
      source: its `Source`.
      text: the text after the steps before.
    """

    def __init__(self, path, source, text):
        self._path = path
        self._cells = sources.cell_starts(source.text) if source.notebook else []
        before, after = source.text.split("\n"), text.split("\n")
        self._lines = None if len(before) == len(after) else _old_lines(before, after)

    def use(self, line, column, rule, seen, instead):
        """The `Use` at a place of the step's text."""
        if self._lines is not None and line:
            line = self._lines[line]
        path = self._path
        cells = [each for each in self._cells if each[0] <= line]
        if cells:
            path, line = "%s:cell %d" % (path, cells[-1][1]), line - cells[-1][0] + 1
        return outcomes.Use(path, line, column, rule, seen, instead)


def _old_lines(before, after):
    """{line of the new text: line of the old}, both from 1."""
    found = {}
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for _, start, stop, new_start, new_stop in matcher.get_opcodes():
        for new in range(new_start, new_stop):
            found[new + 1] = min(start + new - new_start, max(stop - 1, start)) + 1
    return found
