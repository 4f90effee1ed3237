"""The report as one HTML page that needs nothing beside it."""

import html

import tpudist
from tpudist import files
from tpudist.pins import agreement, charts, message, report

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pins</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 72rem;
  margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.4rem; }}
h2 {{ font-size: 1rem; margin: 2.5rem 0 .3rem; }}
table {{ border-collapse: collapse; font-size: 13px; }}
th, td {{ text-align: left; padding: .25rem .7rem; border-bottom: 1px solid #e5e5e5; }}
th.file {{ padding-top: 1rem; color: #666; font-weight: normal; }}
td.same {{ background: #e8f1fa; }}
td.first {{ background: #cfe3f5; }}
td.differs {{ background: #fbe0cc; font-weight: bold; }}
td.nothing {{ color: #aaa; }}
pre {{ background: #f7f7f7; padding: .7rem 1rem; overflow-x: auto; font-size: 12.5px; }}
svg {{ width: 100%; height: auto; }}
p.small {{ color: #666; font-size: 13px; }}
</style>
</head>
<body>
<h1>{verdict}</h1>
<p class="small">The oldest release that a pin was recorded on is its first; the others are
held against it, with the tolerances of the test. tpudist {version}.</p>
<table>
{rows}
</table>
{sections}
</body>
</html>
"""

_CLASSES = {report.FIRST: "first", report.SAME: "same", report.NOTHING: "nothing"}


def write(pins, path):
    """Writes the page.

    Args:
      pins: a list of ``agreement.Pin``.
      path: the file.

    Raises:
      PinError: no matplotlib, and there are curves to draw.
    """
    files.write(path, text(pins))


def text(pins):
    """The page's text; the pins that differ come first below the table.

    Args:
      pins: a list of ``agreement.Pin``.
    """
    ordered = sorted(pins, key=lambda pin: not any(pin.found.values()))
    return _PAGE.format(
        verdict=html.escape(report.verdict(pins)),
        version=tpudist.__version__,
        rows="\n".join(_rows(pins)),
        sections="\n".join(map(_section, ordered)),
    )


def _rows(pins):
    found = agreement.recorded(pins)
    yield "<tr><th></th>%s</tr>" % "".join("<th>%s</th>" % html.escape(each) for each in found)
    for number, pin in enumerate(pins):
        if number == 0 or pins[number - 1].file != pin.file:
            yield '<tr><th class="file" colspan="%d">%s</th></tr>' % (
                len(found) + 1,
                html.escape(pin.file),
            )
        yield "<tr><td>%s</td>%s</tr>" % (
            html.escape("%s: %s" % (pin.test, pin.name)),
            "".join(_cell(report.cell(pin, each)) for each in found),
        )


def _cell(says):
    return '<td class="%s">%s</td>' % (_CLASSES.get(says, "differs"), html.escape(says))


def _section(pin):
    """The curves of a pin, and what differs; empty if there is neither."""
    parts = [charts.svg(curve) for curve in agreement.curves(pin)]
    for release, found in pin.found.items():
        if found:
            explained = message.explain(pin.values[pin.first], pin.values[release], found)
            parts.append(
                "<pre>expected: TensorFlow %s, obtained: %s\n%s</pre>"
                % (pin.first, release, html.escape(explained))
            )
    if not parts:
        return ""
    return "<h2>%s: %s</h2>\n" % (html.escape(pin.test), html.escape(pin.name)) + "\n".join(parts)
