"""The lines on which a name stands again that is told at its first use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpudist.tools.migrate.resolution import sources

if TYPE_CHECKING:
    from typing import Iterable

    from tpudist.tools.migrate.outcomes import Use
    from tpudist.tools.migrate.resolution.sources import Source

_MOST = 6  # lines that are listed


def said(uses: Iterable[Use], source: Source) -> list[Use]:
    """Uses that are left, with the other lines of those that are told once a file.

    Args:
      uses: those of a file.
      source: what it was before.
    """
    uses = list(uses)
    if source.notebook or not any(use.once for use in uses):
        return uses
    code = sources.TEXTS.sub(lambda text: "\n" * text.group().count("\n"), source.text)
    lines = code.split("\n")
    return [_with_others(use, lines) if use.once else use for use in uses]


def _with_others(use: Use, lines: list[str]) -> Use:
    name = use.seen.partition(": ")[0]
    if not re.fullmatch(r"\w+(\.\w+)*", name):
        return use
    there = re.compile(r"(?<![\w.])%s\b" % re.escape(name))
    others = [
        number
        for number, line in enumerate(lines, 1)
        if name in line and number > use.line and there.search(line)
    ]
    if not others:
        return use
    listed = ", ".join(map(str, others[:_MOST]))
    more = len(others) - _MOST
    again = "line%s %s" % ("s" * (len(others) > 1), listed)
    again += " and %d more" % more if more > 0 else ""
    return use._replace(seen="%s, again on %s" % (use.seen, again))
