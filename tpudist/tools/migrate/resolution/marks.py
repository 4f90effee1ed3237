"""Reads the comments that say what a line defines, or which rules skip it.

distribution = library.make()  # tpudist: strategy
session.run(op)  # tpudist: ignore[sessions]
"""

from __future__ import annotations

import re

from tpudist import surfaces
from tpudist.tools.migrate.resolution.fixed_point import OTHER, Values

_MARK = re.compile(r"#\s*tpudist:\s*(\w+)(?:\[([\w, -]+)\])?")
_OTHER = "other"


class Marks:
    """The marks of a file."""

    def __init__(self, text: str) -> None:
        self._kinds: dict[int, str] = {}
        self._ignored: dict[int, set[str]] = {}
        if "tpudist:" in text:
            for number, line in enumerate(text.split("\n"), 1):
                self._take(number, _MARK.search(line))

    def _take(self, number: int, mark: re.Match[str] | None) -> None:
        if mark is None:
            return
        word, rules = mark.groups()
        if word == "ignore":
            names = (rules or "*").split(",")
            self._ignored[number] = {name.strip() for name in names}
        elif word == _OTHER or word in surfaces.DESCRIPTIONS:
            self._kinds[number] = word

    def values(self, line: int) -> Values | None:
        """The values that what a line defines is said to have; None if nothing is said."""
        kind = self._kinds.get(line)
        if kind is None:
            return None
        return OTHER if kind == _OTHER else frozenset([("is", kind)])

    def ignored(self, line: int, rule: str) -> bool:
        """Whether a rule is to pass over a line."""
        rules = self._ignored.get(line, ())
        return rule in rules or "*" in rules
