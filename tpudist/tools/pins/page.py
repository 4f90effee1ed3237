"""The report as one HTML page that needs nothing beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tpudist
from tpudist import files
from tpudist.tools import html_page
from tpudist.tools.html_page import safe
from tpudist.tools.pins import agreement, charts, message, verdicts

if TYPE_CHECKING:
    from typing import Iterator, Sequence


_STYLE = """\
th.file { padding-top: 1rem; color: #666; font-weight: normal; }
td.same { background: #e8f1fa; }
td.first { background: #cfe3f5; }
td.differs { background: #fbe0cc; font-weight: bold; }
td.nothing { color: #aaa; }
"""

_WHAT = (
    '<p class="small">The oldest release that a pin was recorded on is its first; the others '
    "are\nheld against it, with the tolerances of the test. tpudist %s.</p>" % tpudist.__version__
)

_CLASSES = {verdicts.FIRST: "first", verdicts.SAME: "same", verdicts.NOTHING: "nothing"}


def write(pins: Sequence[agreement.Pin], path: str) -> None:
    """Writes the page.

    Args:
      pins: a list of ``agreement.Pin``.
      path: the file.

    Raises:
      PinError: no matplotlib, and there are curves to draw.
    """
    files.write(path, text(pins))


def text(pins: Sequence[agreement.Pin]) -> str:
    """The page's text; the pins that differ come first below the table.

    Args:
      pins: a list of ``agreement.Pin``.
    """
    ordered = sorted(pins, key=lambda pin: not any(pin.differences.values()))
    table = "<table>\n%s\n</table>" % "\n".join(_rows(pins))
    return html_page.whole(
        "Pins",
        [_WHAT, table] + [_section(pin) for pin in ordered],
        style=_STYLE,
        heading=verdicts.verdict(pins),
    )


def _rows(pins: Sequence[agreement.Pin]) -> Iterator[str]:
    recorded = agreement.recorded(pins)
    yield "<tr><th></th>%s</tr>" % "".join("<th>%s</th>" % safe(each) for each in recorded)
    for number, pin in enumerate(pins):
        if number == 0 or pins[number - 1].file != pin.file:
            yield '<tr><th class="file" colspan="%d">%s</th></tr>' % (
                len(recorded) + 1,
                safe(pin.file),
            )
        yield "<tr><td>%s</td>%s</tr>" % (
            safe("%s: %s" % (pin.test, pin.name)),
            "".join(_cell(verdicts.cell(pin, each)) for each in recorded),
        )


def _cell(says: str) -> str:
    return '<td class="%s">%s</td>' % (_CLASSES.get(says, "differs"), safe(says))


def _section(pin: agreement.Pin) -> str:
    """The curves of a pin, and what differs; empty if there is neither."""
    parts = [charts.svg(curve) for curve in agreement.curves(pin)]
    for release, differences in pin.differences.items():
        if differences:
            explained = message.explain(pin.values[pin.first], pin.values[release], differences)
            parts.append(
                "<pre>expected: TensorFlow %s, obtained: %s\n%s</pre>"
                % (pin.first, release, safe(explained))
            )
    if not parts:
        return ""
    return "<h2>%s: %s</h2>\n" % (safe(pin.test), safe(pin.name)) + "\n".join(parts)
