"""Results of a matrix, as a table."""

from __future__ import annotations

import shutil
import typing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Iterable, Sequence


class Result(typing.NamedTuple):
    """How a release went.

    Args:
      release, tensorflow, python: the row's name, and the versions it had; ""
        where it was not set up.
      word: one of the constants below.
      code: the command's exit code, or None.
      seconds: its time, or None.
      line: the first failing line, or the reason.
    """

    release: str
    tensorflow: str
    python: str
    word: str
    code: int | None
    seconds: float | None
    line: str


PASSED, FAILED, NOT_SET_UP, INTERRUPTED, NOT_RUN, READY = (
    "passed",
    "failed",
    "not set up",
    "interrupted",
    "not run",
    "ready",
)

_HEAD = ("release", "TensorFlow", "Python", "result", "seconds", "first failing line")


def exit_code(results: Iterable[Result]) -> int:
    """0 if all passed, 1 if a command failed, 2 if one was not set up, 130 after Ctrl-C."""
    words = {result.word for result in results}
    for word, code in ((INTERRUPTED, 130), (NOT_SET_UP, 2), (FAILED, 1)):
        if word in words:
            return code
    return 0


def table(results: Sequence[Result], width: int | None = None) -> str:
    """The results as text, one line a release.

    Args:
      results: a list of `Result`.
      width: columns of the terminal; only the last column is cut to fit.
    """
    width = width or shutil.get_terminal_size((120, 24)).columns
    rows = [_HEAD] + [_cells(result) for result in results]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD) - 1)]
    lines = []
    for row in rows:
        line = "  ".join(cell.ljust(size) for cell, size in zip(row, widths))
        lines.append(_cut(line + "  " + row[-1], max(width, len(line) + 22)))
    return "\n".join(lines) + "\n"


def _cells(result: Result) -> tuple[str, ...]:
    word = result.word
    if word == FAILED:
        word = "failed (%s)" % result.code
    seconds = "" if result.seconds is None else "%.1f" % result.seconds
    return (
        result.release,
        result.tensorflow or "-",
        result.python or "-",
        word,
        seconds,
        result.line.replace("\n", " "),
    )


def _cut(line: str, width: int) -> str:
    line = line.rstrip()
    return line if len(line) <= width else line[: width - 3] + "..."
