"""The outcomes of legacy uses, and the findings: those that are left, by cause."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any, Iterable, Iterator, NamedTuple

from tpudist.tools.migrate.resolution import sources


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
    """The reason for refusing a file on which tpudist raised the current exception."""
    return "a fault of tpudist: " + traceback.format_exc(limit=-1).strip().splitlines()[-1]


def unreadable(error: Exception) -> str:
    """The reason for refusing a file, in the words of the error and what to do."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return (
            "%d:%d: not Python 3 (%s); if it is Python 2, run 2to3 -w on it first; if it is newer "
            "than Python %d.%d, run tpudist migrate with that"
            % (error.lineno, error.offset or 1, error.msg, *sys.version_info[:2])
        )
    if isinstance(error, sources.TOO_DEEP):
        return "its expressions are nested too deeply to be read; write them on several lines"
    return "%s: %s" % (type(error).__name__, error)


def exit_code(results: Iterable[Result], check: bool) -> int:
    """The exit code: 2 if a file was refused, 1 if a use is left or a check fails, else 0."""
    if any(result.refused for result in results):
        return 2
    if any(result.left or (check and result.before != result.after) for result in results):
        return 1
    return 0


_WIDTH = 100  # characters of a line of places
_SEEN = 60  # characters of what was seen


class Finding(NamedTuple):
    """The uses that are left for one cause."""

    key: str  # what ``tpudist migrate --list-rules KEY`` explains
    uses: list[Use]  # the `Use`s that it leaves, one at least, in order

    def said(self) -> str:
        """``key: what was seen: why; what to type``, on one line; what to type is never cut."""
        use = self.uses[0]
        words = "; ".join(each for each in (use.why, use.instead) if each)
        seen = use.seen if len(use.seen) <= _SEEN else use.seen[: _SEEN - 3] + "..."
        return "%s: %s: %s" % (self.key, seen, words)

    def places(self) -> list[str]:
        """``path:line:col`` of each use."""
        return ["%s:%d:%d" % (use.path, use.line, use.column) for use in self.uses]

    def lines(self) -> Iterator[str]:
        """The line that is printed, and one with as many further places as fit on it.

        They are lines of the file, then ``other.py:3``.
        """
        yield "%s: %s" % (self.places()[0], self.said())
        others, path, listed = self.uses[1:], self.uses[0].path, ""
        for use in others:
            name = (
                "" if use.path == path else os.path.relpath(use.path, os.path.dirname(path) or ".")
            )
            place = ", %s%d" % (name and name + ":", use.line)
            if len(listed + place) > _WIDTH - len("    and 100 more places: , ..."):
                listed += ", ..."
                break
            listed += place
        if others:
            count = "%d more place%s" % (len(others), "s" * (len(others) > 1))
            yield "    and %s: %s" % (count, listed[2:])


def findings(results: Iterable[Result]) -> list[Finding]:
    """The findings of some files, in the order of their first uses."""
    causes: dict[Any, list[Use]] = {}
    for result in results:
        for use in result.left:
            causes.setdefault((use.rule, use.why or use.seen, use.instead), []).append(use)
    return [Finding(uses[0].rule, uses) for uses in causes.values()]
