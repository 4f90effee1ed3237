"""The outcomes of a file's legacy uses."""

from __future__ import annotations

import sys
import traceback
from typing import Iterable, NamedTuple


class Use(NamedTuple):
    """One legacy use, rewritten or left."""

    # where it is, both from 1, in the file as it was
    path: str
    line: int
    column: int
    rule: str
    seen: str  # what stands there
    instead: str  # what was written, or of a use that was left, what to type
    why: str = ""  # why it was left, where the rule alone does not say it


class Result(NamedTuple):
    """One file."""

    path: str
    before: bytes | None  # its bytes; None if it cannot be read, or need not be kept
    after: bytes | None  # what it becomes; the same if nothing changes
    rewritten: list[Use]
    left: list[Use]
    refused: str  # why the file is untouched, "" if it is not refused
    era: str  # the era of its names, "" without evidence


def fault() -> str:
    """Why a file is refused on which tpudist raised the current exception."""
    return "a fault of tpudist: " + traceback.format_exc(limit=-1).strip().splitlines()[-1]


def unreadable(error: Exception) -> str:
    """Why a file is refused, in the words of the error and what to do."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return (
            "%d:%d: not Python 3 (%s); if it is Python 2, run 2to3 -w on it first; if it is newer "
            "than Python %d.%d, run tpudist migrate with that"
            % (error.lineno, error.offset or 1, error.msg, *sys.version_info[:2])
        )
    if isinstance(error, RecursionError):
        return "its expressions are nested too deeply to be read; write them on several lines"
    return "%s: %s" % (type(error).__name__, error)


def exit_code(results: Iterable[Result], check: bool) -> int:
    """The exit code of a run.

    It is 2 if a file was refused; else 1 if a use is left, or with `check` if a file would
    change; else 0.
    """
    if any(result.refused for result in results):
        return 2
    if any(result.left or (check and result.before != result.after) for result in results):
        return 1
    return 0
