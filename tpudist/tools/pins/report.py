"""``tpudist pins report``: which releases agree, as a table."""

from __future__ import annotations

import sys
from typing import Sequence, TextIO

from tpudist.toolbox import compare
from tpudist.tools.pins import agreement


def run(paths: Sequence[str] = (), out: TextIO | None = None) -> int:
    """Prints what differs, and the table.

    Returns:
      0 if every pin agrees on all releases that it was recorded on, else 1.

    Raises:
      PinError: there are no pins.
    """
    pins = agreement.read(paths)
    out = out or sys.stdout
    out.write("".join(map(differences, agreement.differing(pins))) + table(pins))
    return int(bool(agreement.differing(pins)))


def table(pins: Sequence[agreement.Pin]) -> str:
    """The pins by the releases, as text; ``first`` is what the others are held against."""
    recorded = agreement.recorded(pins)
    rows = [[""] + recorded]
    for number, pin in enumerate(pins):
        if number == 0 or pins[number - 1].file != pin.file:
            rows.append([pin.file])
        rows.append(
            ["  %s: %s" % (pin.test, pin.name)] + [agreement.cell(pin, each) for each in recorded]
        )
    widths = [max(len(row[i]) for row in rows if len(row) > 1) for i in range(len(recorded) + 1)]
    lines = [
        "  ".join(text.ljust(size) for text, size in zip(row, widths)).rstrip()
        if len(row) > 1
        else row[0]
        for row in rows
    ]
    return "\n".join(lines + ["", agreement.verdict(pins), ""])


def differences(pin: agreement.Pin) -> str:
    """Formats the differences between a pin's values on other releases and the first one's."""
    return "".join(
        "%s: %s, expected as on TensorFlow %s, obtained on %s:\n%s\n\n"
        % (
            pin.test,
            pin.name,
            pin.first,
            release,
            compare.explain(pin.values[pin.first], pin.values[release], found),
        )
        for release, found in pin.differences.items()
        if found
    )
