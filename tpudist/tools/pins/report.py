"""``tpudist pins report``: which releases agree, as a table, a picture and a page."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tpudist.tools.pins import agreement, verdicts

if TYPE_CHECKING:
    from typing import Sequence, TextIO


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
        from tpudist.tools.pins import charts

        charts.write_png(pins, png)
        out.write("wrote %s\n" % png)
    if html:
        from tpudist.tools.pins import page

        page.write(pins, html)
        out.write("wrote %s\n" % html)
    return int(bool(agreement.differing(pins)))


def table(pins: Sequence[agreement.Pin]) -> str:
    """The pins by the releases, as text; ``first`` is what the others are held against.

    Args:
      pins: a list of ``agreement.Pin``.
    """
    recorded = agreement.recorded(pins)
    rows = [[""] + recorded]
    for number, pin in enumerate(pins):
        if number == 0 or pins[number - 1].file != pin.file:
            rows.append([pin.file])
        rows.append(
            ["  %s: %s" % (pin.test, pin.name)] + [verdicts.cell(pin, each) for each in recorded]
        )
    widths = [max(len(row[i]) for row in rows if len(row) > 1) for i in range(len(recorded) + 1)]
    lines = [
        "  ".join(text.ljust(size) for text, size in zip(row, widths)).rstrip()
        if len(row) > 1
        else row[0]
        for row in rows
    ]
    return "\n".join(lines + ["", verdicts.verdict(pins), ""])
