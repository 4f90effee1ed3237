"""Pin files: JSON with one line per test, pin and release, so that changes merge.

    {"format": 1, "pins": {test: {name: {"kind": ..., "rtol": ..., "atol": ...,
                                         "on": {release: record}}}}}

``test`` is a test's id without its module. ``kind`` is ``value``,
``structure`` or ``collectives``; the tolerances are those of the
test when it recorded, for ``tpudist pins report``.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from typing import TYPE_CHECKING, Any, Dict, Iterable, NamedTuple

from tpudist import files, machine
from tpudist.errors import PinError

if TYPE_CHECKING:
    Pins = Dict[str, Dict[str, "Entry"]]


FORMAT = 1

#: What stands for a run without TensorFlow.
NO_TENSORFLOW = "none"

#: Minor releases of a major version, as many as keep the order; 1.15 was the last of 1.
_MINORS = {0: 13, 1: 16}


class Entry(NamedTuple):
    """One pin: its kind, its tolerances, and {release: record}."""

    kind: str
    rtol: float
    atol: float
    on: dict[str, Any]


def read(path: str) -> Pins:
    """{test: {name: Entry}} of a pin file; {} if there is none.

    Raises:
      PinError: it is no pin file, or of a newer tpudist.
    """
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        data = json.loads(text)
        if data["format"] != FORMAT:
            raise ValueError("its format is %r" % data["format"])
        return {
            test: {name: Entry(**entry) for name, entry in pins.items()}
            for test, pins in data["pins"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = "it has a merge conflict" if "<<<<<<<" in text else str(error)
        raise PinError(
            "pin file %s" % path,
            "it cannot be read as format %d: %s" % (FORMAT, why),
            "resolve it line by line (a line is one release's record), or delete it and "
            "run: pytest --pins-record",
        ) from None


def put(path: str, test: str, name: str, entry: Entry, release: str) -> None:
    """Records the one release of an `Entry` of a test; the pin's records on other releases stay."""
    with files.locked(_lock(path)):
        pins = read(path)
        old = pins.setdefault(test, {}).get(name)
        on = dict(old.on) if old and old.kind == entry.kind else {}
        on[release] = entry.on[release]
        pins[test][name] = entry._replace(on=on)
        files.write(path, dumps(pins))


def drop(path: str, unused: Iterable[tuple[str, str]], release: str) -> None:
    """Takes a release's records of some pins, (test, name) each, out of a file."""
    with files.locked(_lock(path)):
        pins = read(path)
        for test, name in unused:
            pins.get(test, {}).get(name, Entry("", 0, 0, {})).on.pop(release, None)
        files.write(path, dumps(pins))


def _lock(path: str) -> str:
    """The lock's path: in ``__pycache__`` beside the pins, which version control ignores."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(folder, "__pycache__", name + ".lock")


def dumps(pins: Pins) -> str:
    """A pin file's text; what has no records is left out."""
    blocks = []
    for test in sorted(pins):
        entries = [
            "   %s: %s" % (_json(name), _entry(entry))
            for name, entry in sorted(pins[test].items())
            if entry.on
        ]
        if entries:
            blocks.append("  %s: {\n%s\n  }" % (_json(test), ",\n".join(entries)))
    body = "{\n%s\n }" % ",\n".join(blocks) if blocks else "{}"
    return '{\n "format": %d,\n "pins": %s\n}\n' % (FORMAT, body)


def _entry(entry: Entry) -> str:
    lines = [
        "%s: %s" % (_json(key), _json(getattr(entry, key))) for key in ("kind", "rtol", "atol")
    ]
    lines = ["    %s" % ", ".join(lines)]
    records = [
        "     %s: %s" % (_json(release), _json(entry.on[release]))
        for release in sorted(entry.on, key=release_order)
    ]
    lines.append('    "on": {\n%s\n    }' % ",\n".join(records))
    return "{\n%s\n   }" % ",\n".join(lines)


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)


def current_release() -> str:
    """The minor release of this process; asks the metadata if it imported none."""
    if "tensorflow" in sys.modules:
        from tpudist.tfcompat import versions

        return _minor(str(versions.TF))
    return _installed_release()


@functools.lru_cache(maxsize=1)
def _installed_release() -> str:
    from tpudist.toolbox import installed

    found, _ = installed.distributions()
    return next(
        (_minor(found[name]) for name in machine.TENSORFLOWS if name in found), NO_TENSORFLOW
    )


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def release_order(release: str) -> int:
    """A number by which releases, and `NO_TENSORFLOW`, sort; neighbours are 1 apart."""
    major, _, minor = release.partition(".")
    if not (major.isdigit() and minor.isdigit()):
        return -1
    return sum(_MINORS.get(each, 100) for each in range(int(major))) + int(minor)


def nearest_release(recorded: Iterable[str], wanted: str) -> str:
    """The recorded release that is nearest to the wanted one, the older of two."""
    return min(
        recorded,
        key=lambda each: (abs(release_order(each) - release_order(wanted)), release_order(each)),
    )
