"""``tpudist pins report``: which releases agree, as a table, and in what the others differ."""

from __future__ import annotations

import os
import sys
from typing import Any, Iterable, Iterator, NamedTuple, Sequence

from tpudist import machine
from tpudist.errors import PinError
from tpudist.toolbox import compare
from tpudist.tools.pins import SUFFIX, store, values

_SKIPPED = ("node_modules", "build", "dist") + machine.INSTALLED


class Pin(NamedTuple):
    """One pin on all releases."""

    file: str
    test: str
    name: str
    kind: str  # see ``tpudist.tools.pins.store``
    first: str  # the oldest release with a record
    differences: dict[str, list[compare.Difference]]  # what differs on the others
    values: dict[str, Any]  # decoded records, oldest release first


def run(paths: Sequence[str] = ()) -> int:
    """Prints what differs, and the table; 0 if every pin agrees on all of its releases, else 1."""
    pins = read(paths)
    for pin in differing(pins):
        for release, found in pin.differences.items():
            if found:
                seen = pin.test, pin.name, pin.first, release
                told = compare.explain(pin.values[pin.first], pin.values[release], found)
                print("%s: %s, expected as on TensorFlow %s, obtained on %s:" % seen)
                print(told + "\n")
    sys.stdout.write(_table(pins))
    return int(bool(differing(pins)))


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
        yield from (os.path.join(base, name) for name in names if name.endswith(SUFFIX))


def read(paths: Sequence[str]) -> list[Pin]:
    """[Pin, ...] of all files; see :func:`files`."""
    found = []
    for path in files(paths):
        for test, entries in sorted(store.read(path).items()):
            for name, entry in sorted(entries.items()):
                first, *others = sorted(entry.on, key=store.release_order)
                on = {each: values.decode(entry.on[each]) for each in (first, *others)}
                differences = {
                    each: compare.differences(on[first], on[each], entry.rtol, entry.atol)
                    for each in others
                }
                found.append(Pin(path, test, name, entry.kind, first, differences, on))
    return found


def recorded(pins: Iterable[Pin]) -> list[str]:
    """All releases that a pin was recorded on, oldest first."""
    return sorted({each for pin in pins for each in pin.values}, key=store.release_order)


def differing(pins: Iterable[Pin]) -> list[Pin]:
    """The pins on which not all releases agree."""
    return [pin for pin in pins if any(pin.differences.values())]


def _table(pins: Sequence[Pin]) -> str:
    """The pins by the releases, as text; ``first`` is what the others are held against."""
    releases = recorded(pins)
    rows = [[""] + releases]
    for number, pin in enumerate(pins):
        if number == 0 or pins[number - 1].file != pin.file:
            rows.append([pin.file])
        cells = [_cell(pin, each) for each in releases]
        rows.append(["  %s: %s" % (pin.test, pin.name), *cells])
    widths = [max(len(row[i]) for row in rows if len(row) > 1) for i in range(len(releases) + 1)]
    widths_of = [widths if len(row) > 1 else [0] for row in rows]
    lines = [
        "  ".join(text.ljust(size) for text, size in zip(row, sizes)).rstrip()
        for row, sizes in zip(rows, widths_of)
    ]
    differ, alone = len(differing(pins)), sum(len(pin.values) == 1 for pin in pins)
    verdict = "%d differ%s between releases" % (differ, "s" * (differ == 1))
    count = "%d pin%s" % (len(pins), "s" * (len(pins) != 1))
    told = count, ", ".join(releases), verdict if differ else "all agree"
    tail = "; %d recorded on one release only" % alone if alone else ""
    return "\n".join([*lines, "", "%s on TensorFlow %s: %s" % told + tail + ".", ""])


def _cell(pin: Pin, release: str) -> str:
    """The table's entry for a pin on a release; one that differs has its first step."""
    if release not in pin.values:
        return "-"
    if release == pin.first:
        return "first"
    differences = pin.differences[release]
    if not differences:
        return "same"
    step = next((each for each in differences[0].path if isinstance(each, int)), None)
    return "differs" if step is None or pin.kind != "value" else "step %d" % step
