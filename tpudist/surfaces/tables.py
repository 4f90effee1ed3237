"""Reads the tables of names from ``names.txt``, each when it is first asked for."""

from __future__ import annotations

import functools
import os
import re
from typing import Any, Callable, Iterator

_SECTION = re.compile(r"^\[(.+): (.+)\]\n", re.M)
_TEXT = re.compile(r"\$(\w+)")


@functools.lru_cache(maxsize=None)
def table(name: str) -> Any:  # noqa: ANN401 (its kind stands in the file)
    """A table of the file, by the name in the head of its sections, such as "GONE".

    It is what the kind of its sections says, see the file: a frozenset of dotted names, or
    {dotted name: text}; of sections with keys {key: that}.
    """
    whole: dict[str, Any] = {}
    for keys, kind, text in sections(name):
        found = _KINDS[kind](text)
        if isinstance(found, frozenset):
            return found
        for part in [whole.setdefault(key, {}) for key in keys] or [whole]:
            part.update(found)
    return whole


def sections(name: str) -> list[tuple[list[str], str, str]]:
    """(keys, kind, text) of each section of a table."""
    return _sections()[name]


@functools.lru_cache(maxsize=None)
def _sections() -> dict[str, list[tuple[list[str], str, str]]]:
    """{table: (keys, kind, text) of each of its sections}."""
    with open(os.path.join(os.path.dirname(__file__), "names.txt"), encoding="utf-8") as file:
        _, *parts = _SECTION.split(file.read().replace("\n    ", " "))
    found: dict[str, list[tuple[list[str], str, str]]] = {}
    for heads, kind, text in zip(parts[::3], parts[1::3], parts[2::3]):
        for head in heads.split(", "):
            name, *keys = head.split()
            found.setdefault(name, []).append((keys, kind, text))
    return found


def rows(text: str) -> Iterator[tuple[str, list[str], str]]:
    """Yields (module, names, value) of the rows of a section."""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            names, _, value = line.partition(" |")
            module, _, words = names.rpartition(":")
            text = _TEXT.sub(lambda found: str(table("TEXTS")[found.group(1)]), value.strip())
            yield module, words.split(), text


def _pairs(text: str) -> Iterator[tuple[str, str, str]]:
    """Yields (module, name, value) of each name."""
    for module, names, value in rows(text):
        yield from ((module, name, value) for name in names)


def _leads(text: str) -> Iterator[tuple[str, str, str]]:
    """Yields (module, name, where it leads) of each name."""
    for module, words, home in _pairs(text):
        old, _, new = words.partition("=")
        yield module, old, home + (new or old)


def _flat(rows: Iterator[tuple[str, str, str]]) -> dict[str, str]:
    return {(module + "." + name).lstrip("."): value for module, name, value in rows}


def _of_each(rows: Iterator[tuple[str, str, str]]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for module, name, value in rows:
        found.setdefault(module, {})[name] = value
    return found


def _homes(text: str) -> dict[str, dict[str, frozenset[str]]]:
    found: dict[str, dict[str, frozenset[str]]] = {}
    for module, names, home in sorted(rows(text), key=lambda row: len(row[1]), reverse=True):
        found.setdefault(module, {})[home] = frozenset(names)
    return found


_KINDS: dict[str, Callable[[str], Any]] = {
    "names": lambda text: frozenset(_flat(_pairs(text))),
    "names of each": lambda text: {row[0]: frozenset(row[1]) for row in rows(text)},
    "texts": lambda text: _flat(_pairs(text)),
    "texts of each": lambda text: _of_each(_pairs(text)),
    "leads": lambda text: _flat(_leads(text)),
    "leads of each": lambda text: _of_each(_leads(text)),
    "homes": _homes,
    "members": lambda text: {
        (kind, name): value for kinds, name, value in _pairs(text) for kind in kinds.split()
    },
}
