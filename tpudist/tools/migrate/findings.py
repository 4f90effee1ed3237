"""Groups findings by cause: the first place, what to type, and how many more there are."""

from __future__ import annotations

import os
import re
from typing import Any, Iterable, Iterator, NamedTuple

from tpudist.tools.migrate.outcomes import Result, Use

_WIDTH = 100  # characters of a line, without the path that it begins with
_LEAST = 24  # characters of what was seen
_REMARK = re.compile("; |, which |, the last ")  # what a sentence of what to type goes on with


class Finding(NamedTuple):
    """The uses that are left for one cause."""

    key: str  # what ``tpudist migrate --list-rules KEY`` explains
    uses: list[Use]  # the `Use`s that it leaves, one at least, in order

    def said(self) -> str:
        """``key: what was seen; what to type``, and why, as far as a line has room for it."""
        use = self.uses[0]
        instead = _REMARK.split(use.instead)[0]
        whole = "%s: %s: %s; %s" % (self.key, use.seen, use.why, instead)
        if use.why and len(whole) <= _WIDTH:
            return whole
        room = _WIDTH - len("%s: ; " % self.key)
        seen = _clipped(use.seen, max(room - len(instead), _LEAST))
        return "%s: %s; %s" % (self.key, seen, _clipped(instead, room - len(seen)))

    def places(self) -> list[str]:
        """``path:line:col`` of each use."""
        return ["%s:%d:%d" % (use.path, use.line, use.column) for use in self.uses]

    def lines(self) -> Iterator[str]:
        """The line that is printed, and the one with more places."""
        yield "%s: %s" % (self.places()[0], self.said())
        others = self.uses[1:]
        if others:
            count = "%d more place%s" % (len(others), "s" * (len(others) > 1))
            yield "    and %s: %s" % (count, _listed(others, self.uses[0].path))


def _listed(uses: list[Use], path: str) -> str:
    """The places of uses: lines of a file, then ``other.py:3``; as many as fit on a line."""
    folder, room, listed = os.path.dirname(path), _WIDTH - len("    and 100 more places: , ..."), ""
    for use in uses:
        name = "" if use.path == path else os.path.relpath(use.path, folder or ".") + ":"
        place = ", %s%d" % (name, use.line)
        if len(listed + place) > room:
            return listed[2:] + ", ..."
        listed += place
    return listed[2:]


def of(results: Iterable[Result]) -> list[Finding]:
    """The findings of some files, in the order of their first uses."""
    causes: dict[Any, list[Use]] = {}
    for result in results:
        for use in result.left:
            causes.setdefault((use.rule, use.why or use.seen, use.instead), []).append(use)
    return [Finding(uses[0].rule, uses) for uses in causes.values()]


def _clipped(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
