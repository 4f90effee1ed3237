"""``tpudist pins report``: which releases agree, as a table, a picture and a page."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tpudist.pins import agreement

if TYPE_CHECKING:
    from typing import Sequence, TextIO


#: What a cell of the table says; a release that differs has its first step.
FIRST, SAME, DIFFERS, NOTHING = "first", "same", "differs", "-"


def run(
    paths: Sequence[str] = (),
    png: str | None = None,
    html: str | None = None,
    out: TextIO | None = None,
) -> int:
    """Prints the table, and writes a picture and a page if asked.

    Args:
      paths: folders, pin files or test modules; this folder if empty.
      png, html: files to write, or None.
      out: the text stream to write to; standard output if None.

    Returns:
      0 if every pin agrees on all releases that it was recorded on, else 1.

    Raises:
      PinError: there are no pins, or no matplotlib for the picture.
    """
    pins = agreement.read(paths)
    out = out or sys.stdout
    out.write(table(pins))
    if png:
        from tpudist.pins import charts

        charts.write_png(pins, png)
        out.write("wrote %s\n" % png)
    if html:
        from tpudist.pins import page

        page.write(pins, html)
        out.write("wrote %s\n" % html)
    return int(bool(agreement.differing(pins)))


def cell(pin: agreement.Pin, release: str) -> str:
    """What the table says of a pin on a release.

    Args:
      pin: an ``agreement.Pin``.
      release: one of the releases of the table.
    """
    if release not in pin.values:
        return NOTHING
    if release == pin.first:
        return FIRST
    found = pin.found[release]
    if not found:
        return SAME
    step = next((each for each in found[0].path if isinstance(each, int)), None)
    return DIFFERS if step is None or pin.kind != "value" else "step %d" % step


def verdict(pins: Sequence[agreement.Pin]) -> str:
    """One sentence on all pins."""
    differ = len(agreement.differing(pins))
    alone = sum(len(pin.values) == 1 for pin in pins)
    found = agreement.recorded(pins)
    text = "%s on TensorFlow %s: %s" % (
        _count(len(pins), "pin"),
        ", ".join(found),
        "all agree"
        if not differ
        else "%d %s between releases" % (differ, "differs" if differ == 1 else "differ"),
    )
    if alone:
        text += "; %d recorded on one release only" % alone
    return text + "."


def _count(number: int, noun: str) -> str:
    return "%d %s%s" % (number, noun, "s" * (number != 1))


def table(pins: Sequence[agreement.Pin]) -> str:
    """The pins by the releases, as text; ``first`` is what the others are held against.

    Args:
      pins: a list of ``agreement.Pin``.
    """
    found = agreement.recorded(pins)
    rows = [[""] + found]
    for number, pin in enumerate(pins):
        if number == 0 or pins[number - 1].file != pin.file:
            rows.append([pin.file])
        rows.append(["  %s: %s" % (pin.test, pin.name)] + [cell(pin, each) for each in found])
    widths = [max(len(row[i]) for row in rows if len(row) > 1) for i in range(len(found) + 1)]
    lines = [
        "  ".join(text.ljust(size) for text, size in zip(row, widths)).rstrip()
        if len(row) > 1
        else row[0]
        for row in rows
    ]
    return "\n".join(lines + ["", verdict(pins), ""])
