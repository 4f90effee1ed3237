"""``tpudist pins report``: which releases agree, as a table, a picture and a page."""

from __future__ import annotations

import sys
from typing import Sequence, TextIO

import tpudist
from tpudist import files
from tpudist.toolbox import compare, html_page
from tpudist.toolbox.html_page import safe
from tpudist.tools.pins import agreement, charts

_WHAT = (
    '<p class="small">The oldest release that a pin was recorded on is its first; the others '
    "are\nheld against it, with the tolerances of the test. tpudist %s.</p>" % tpudist.__version__
)


def run(paths: Sequence[str] = (), html: str | None = None, out: TextIO | None = None) -> int:
    """Prints the table, and writes a page if asked.

    Returns:
      0 if every pin agrees on all releases that it was recorded on, else 1.

    Raises:
      PinError: there are no pins, or no matplotlib for the curves.
    """
    pins = agreement.read(paths)
    out = out or sys.stdout
    out.write(table(pins))
    if html:
        files.write(html, page(pins))
        out.write("wrote %s\n" % html)
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


def page(pins: Sequence[agreement.Pin]) -> str:
    """The whole HTML page; the pins that differ come first below the table."""
    ordered = sorted(pins, key=lambda pin: not any(pin.differences.values()))
    parts = [_WHAT, "<pre>%s</pre>" % safe(table(pins))] + [_section(pin) for pin in ordered]
    return html_page.whole("Pins", parts, heading=agreement.verdict(pins))


def _section(pin: agreement.Pin) -> str:
    """The curves of a pin, and what differs; empty if there is neither."""
    parts = [charts.svg(curve) for curve in agreement.curves(pin)]
    for release, differences in pin.differences.items():
        if differences:
            explained = compare.explain(pin.values[pin.first], pin.values[release], differences)
            parts.append(
                "<pre>expected: TensorFlow %s, obtained: %s\n%s</pre>"
                % (pin.first, release, safe(explained))
            )
    if not parts:
        return ""
    return "<h2>%s: %s</h2>\n" % (safe(pin.test), safe(pin.name)) + "\n".join(parts)
