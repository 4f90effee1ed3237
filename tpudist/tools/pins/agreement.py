"""Compares the records of every pin with those of the oldest release."""

from __future__ import annotations

import collections
import os
from typing import Any, Iterable, Iterator, NamedTuple, Sequence

from tpudist import machine
from tpudist.errors import PinError
from tpudist.toolbox import compare
from tpudist.tools.pins import SUFFIX, store, values


class Pin(NamedTuple):
    """One pin on all releases."""

    file: str
    test: str
    name: str
    kind: str  # see ``tpudist.tools.pins.store``
    first: str  # the oldest release with a record
    differences: dict[str, list[compare.Difference]]  # what differs on the others
    values: dict[str, Any]  # decoded records, oldest release first


#: What a cell of the table says; a release that differs has its first step.
FIRST, SAME, DIFFERS, NOTHING = "first", "same", "differs", "-"

_SKIPPED = ("node_modules", "build", "dist") + machine.INSTALLED


def files(paths: Sequence[str]) -> list[str]:
    """The pin files in folders, test modules and pin files, sorted; in this folder by default.

    Raises:
      PinError: there are none.
    """
    files: list[str] = []
    for path in paths or ["."]:
        if os.path.isdir(path):
            files += _below(path)
        else:
            stem = path if path.endswith(SUFFIX) else os.path.splitext(path)[0] + SUFFIX
            files += [stem] if os.path.exists(stem) else []
    if not files:
        raise PinError(
            "no pin file (*%s) in %s" % (SUFFIX, " ".join(paths) or "this folder"),
            "there is nothing to report on",
            "pytest, with a test that calls pin.check(...), then this again",
        )
    return sorted({os.path.normpath(path) for path in files})


def _below(folder: str) -> Iterator[str]:
    for base, inner, names in os.walk(folder):
        inner[:] = [
            name for name in inner if name not in _SKIPPED and not name.startswith((".", "__"))
        ]
        for name in names:
            if name.endswith(SUFFIX):
                yield os.path.join(base, name)


def read(paths: Sequence[str]) -> list[Pin]:
    """[Pin, ...] of all files; see :func:`files`."""
    return [
        _pin(path, test, name, entry)
        for path in files(paths)
        for test, entries in sorted(store.read(path).items())
        for name, entry in sorted(entries.items())
    ]


def _pin(path: str, test: str, name: str, entry: store.Entry) -> Pin:
    ordered = sorted(entry.on, key=store.release_order)
    values_on = collections.OrderedDict((each, values.decode(entry.on[each])) for each in ordered)
    first = ordered[0]
    differences = {
        each: compare.differences(values_on[first], values_on[each], entry.rtol, entry.atol)
        for each in ordered[1:]
    }
    return Pin(path, test, name, entry.kind, first, differences, values_on)


def recorded(pins: Iterable[Pin]) -> list[str]:
    """All releases that a pin was recorded on, oldest first."""
    return sorted({each for pin in pins for each in pin.values}, key=store.release_order)


def differing(pins: Iterable[Pin]) -> list[Pin]:
    """The pins on which not all releases agree."""
    return [pin for pin in pins if any(pin.differences.values())]


def cell(pin: Pin, release: str) -> str:
    """The table's entry for a pin on one of its releases."""
    if release not in pin.values:
        return NOTHING
    if release == pin.first:
        return FIRST
    differences = pin.differences[release]
    if not differences:
        return SAME
    step = next((each for each in differences[0].path if isinstance(each, int)), None)
    return DIFFERS if step is None or pin.kind != "value" else "step %d" % step


def verdict(pins: Sequence[Pin]) -> str:
    """One sentence on all pins."""
    differ = len(differing(pins))
    alone = sum(len(pin.values) == 1 for pin in pins)
    releases = recorded(pins)
    text = "%s on TensorFlow %s: %s" % (
        _count(len(pins), "pin"),
        ", ".join(releases),
        "all agree"
        if not differ
        else "%d %s between releases" % (differ, "differs" if differ == 1 else "differ"),
    )
    if alone:
        text += "; %d recorded on one release only" % alone
    return text + "."


def _count(number: int, noun: str) -> str:
    return "%d %s%s" % (number, noun, "s" * (number != 1))
