"""Formats reports as one HTML page, which needs no other file."""

from __future__ import annotations

from typing import Any, Sequence

from tpudist.toolbox import html_page
from tpudist.toolbox.html_page import safe
from tpudist.tools.compile.pages import by_line, terminal, units
from tpudist.tools.compile.report import Report

_STYLE = """\
body { max-width: 60rem; }
table { width: 100%; }
th, td { padding-left: 0; }
pre { background: #fbe0cc; white-space: pre-wrap; }
svg text { font: 12px system-ui, sans-serif; fill: #222; }
summary, .op { font-size: 13px; padding: .1rem 0; cursor: default; }
details > details, details > .op { margin-left: 1.2rem; }
.share { display: inline-block; min-width: 4em; }
.much { color: #666; }
.bar { height: 3px; background: #e8c49c; }
"""

#: The parts of the memory bar, and their colours.
_MEMORY_PARTS = (
    ("arguments", "#4878a8"),
    ("temporary", "#e08a3c"),
    ("code", "#7a6ca8"),
    ("outputs", "#6aa86a"),
)

_WIDTH, _HEIGHT = 800, 160

_OF_SHARES = (
    '<p class="small">Shares are of the compiler\'s estimate of cycles, as often as loops run: it '
    "ranks, and is no time. A fused instruction is shared out among its ops; compute, memory and "
    "network are what takes longest at the chip's peaks.</p>"
)


def page(report: Report, *more: Report) -> str:
    """Returns the text of the page; everything that comes from the program is escaped.

    Further reports stand one below the other.
    """
    parts = _sections(report)
    for each in more:
        parts += ["<h1>%s</h1>" % safe(terminal.verdict(each))] + _sections(each)
    return html_page.whole(terminal.verdict(report), parts, style=_STYLE)


def _sections(report: Report) -> list[str]:
    return [
        _failure(report),
        _memory(report),
        _memory_over_time(report),
        _cost(report),
        _table("Arguments", report.arguments),
        _table("Collectives asked for", report.requested),
        _table("Collectives compiled", report.optimized),
        _table("Logical devices", report.splits),
        _notes(report),
        '<p class="small">%s</p>' % safe(terminal.versions(report)),
    ]


def _failure(report: Report) -> str:
    if not report.failure:
        return ""
    return "<pre>%s</pre>\n<p>%s</p>\n%s" % (
        safe(report.failure.message),
        safe("Instead: " + report.failure.instead),
        _table("Largest arrays, before optimization", report.failure.largest),
    )


def _memory(report: Report) -> str:
    """Draws the memory bar of a device, with a legend."""
    if not report.memory:
        return ""
    memory, limit = report.memory, report.target.hbm
    sizes = dict(memory._asdict(), outputs=memory.outputs - memory.aliased)
    full, left, bars, legend = max(memory.total, limit), 0.0, [], []
    for name, colour in _MEMORY_PARTS:
        width = _WIDTH * sizes[name] / full
        bars.append(
            '<rect x="%.2f" y="0" width="%.2f" height="30" fill="%s">'
            "<title>%s %s</title></rect>" % (left, width, colour, name, units.size(sizes[name]))
        )
        legend.append(
            '<tspan fill="%s">&#9632;</tspan> %s %s' % (colour, name, units.size(sizes[name]))
        )
        left += width
    bars.append(
        '<rect x="0" y="0" width="%.2f" height="30" fill="none" stroke="#222"/>'
        % (_WIDTH * limit / full)
    )
    return (
        "<h2>Memory of a device: %s of %s (%.1f %%)</h2>\n"
        '<svg viewBox="-1 -1 %d 54" role="img">%s<text x="0" y="48">%s</text></svg>\n'
        '<p class="small">%s of the outputs are in place of arguments.</p>'
        % (
            units.size(memory.total),
            units.size(limit),
            100 * memory.total / limit,
            _WIDTH + 2,
            "".join(bars),
            " &#160; ".join(legend),
            units.size(memory.aliased),
        )
    )


def _memory_over_time(report: Report) -> str:
    """Draws the live memory at each instruction, and lists what is live at the peak."""
    if not report.held:
        return _peak_memory(report)
    limit, count = report.target.hbm, len(report.held)
    full = max(max(report.held), 1)
    peak = report.held.index(max(report.held))
    points = ["0,%d" % _HEIGHT]
    for number, live in enumerate(report.held):
        left, right = _WIDTH * number / count, _WIDTH * (number + 1) / count
        top = _HEIGHT * (1 - live / full)
        points += ["%.1f,%.1f" % (left, top), "%.1f,%.1f" % (right, top)]
    points.append("%d,%d" % (_WIDTH, _HEIGHT))
    return (
        "<h2>Memory over the program</h2>\n"
        '<svg viewBox="-1 -16 %d %d" role="img"><polygon points="%s" fill="#e08a3c"/>'
        '<line x1="%.1f" x2="%.1f" y1="0" y2="%d" stroke="#222" stroke-dasharray="3"/>'
        '<text x="0" y="-4">%s held at most, %.1f %% of a device</text></svg>\n'
        '<p class="small">From the first instruction to the last; simulated along the '
        "compiler's schedule, without its code.</p>\n%s"
        % (
            _WIDTH + 2,
            _HEIGHT + 18,
            " ".join(points),
            _WIDTH * (peak + 0.5) / count,
            _WIDTH * (peak + 0.5) / count,
            _HEIGHT,
            units.size(full),
            100 * full / limit,
            _peak_memory(report),
        )
    )


def _peak_memory(report: Report) -> str:
    """Lists the lines whose arrays are live at the peak; each opens to show its arrays."""
    if not report.alive:
        return ""
    whole = sum(each.bytes for each in report.alive)
    lines = []
    for line, size, arrays in by_line.peak_memory(report):
        below = "".join(_entry(units.size(each.bytes), each.shape, each.op_name) for each in arrays)
        count = "%d array%s" % (len(arrays), "s" * (len(arrays) != 1))
        lines.append(_entry(units.size(size), line, count, size / whole, below))
    return "<h2>Held at the peak</h2>\n%s" % "".join(lines)


def _cost(report: Report) -> str:
    """Formats what a step costs; a line opens to show its layers, instructions and ops."""
    if not report.cost:
        return ""
    parts = ["<h2>Work</h2>", *("<p>%s</p>" % safe(line) for line in terminal.work(report.cost))]
    parts.append(_table("Loops", report.cost.loops))
    nodes = by_line.costs(report)
    if nodes:
        parts += ["<h2>Where it is hot</h2>", *map(_node, nodes), _OF_SHARES]
    return "\n".join(parts)


def _node(node: by_line.Node) -> str:
    much = [node.instruction, units.amount(node.flops) + "FLOP", units.size(node.bytes), node.bound]
    below = "".join(map(_node, node.below))
    share = "%.1f %%" % (100 * node.share)
    return _entry(share, node.label, ", ".join(filter(None, much)), node.share, below)


def _entry(figure: str, label: str, much: str, bar: float | None = None, below: str = "") -> str:
    """Formats a line of a tree, which opens, without a script, to show the HTML `below`.

    Before its label is a figure, behind it what else is known, and a bar of length 0 to 1.
    """
    words = figure, safe(label), safe(much)
    text = '<span class="share">%s</span> %s <span class="much">%s</span>' % words
    if bar is not None:
        text += '<div class="bar" style="width:%.2f%%"></div>' % (100 * bar)
    if not below:
        return '<div class="op">%s</div>\n' % text
    return "<details><summary>%s</summary>\n%s</details>\n" % (text, below)


def _notes(report: Report) -> str:
    return "<ul>%s</ul>" % "".join("<li>%s</li>" % safe(each) for each in report.warnings)


def _table(title: str, records: Sequence[Any]) -> str:
    """Formats records of one kind as a table of their fields; "" if there are none."""
    if not records:
        return ""
    rows = [[_cell(*pair) for pair in each._asdict().items()] for each in records]
    headings = [name.replace("_", " ") for name in records[0]._fields]
    return "<h2>%s</h2>\n%s" % (title, html_page.table(headings, rows))


def _cell(name: str, value: Any) -> str:
    """Formats a field of a record."""
    if name in ("bytes", "unpadded"):
        return units.size(value)
    if name == "trips" and value is None:
        return "?"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
