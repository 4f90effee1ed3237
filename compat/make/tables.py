"""Writes sections of tpudist/surfaces/names.txt, the tables of names."""

from __future__ import annotations

import pathlib
import textwrap
from typing import Iterable

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "tpudist/surfaces/names.txt"


def write(name: str, rows: Iterable[str], comments: Iterable[str] = ()) -> None:
    """Replaces the rows of a table, whose head stays.

    Args:
      name: the table, such as "FIRST_GENERATION".
      rows: lines without an end.
      comments: those that come first; by default the comments that are there.
    """
    before, head, text = PAGE.read_text("utf-8").partition("\n[%s: " % name)
    section, bar, after = text.partition("\n\n[")
    kept = [line for line in section.split("\n") if line.startswith("#")]
    lines = [section.partition("\n")[0], *(list(comments) or kept), *map(_wrapped, rows)]
    PAGE.write_text(before + head + "\n".join(lines) + (bar + after or "\n"), "utf-8")


def of_modules(names: Iterable[str]) -> list[str]:
    """A row for each module of some dotted names."""
    modules: dict[str, list[str]] = {}
    for module, _, name in sorted(each.rpartition(".") for each in names):
        modules.setdefault(module, []).append(name)
    return [(module + ": " if module else "") + " ".join(of) for module, of in modules.items()]


def _wrapped(row: str) -> str:
    return textwrap.fill(
        row, 100, subsequent_indent=" " * 4, break_long_words=False, break_on_hyphens=False
    )
