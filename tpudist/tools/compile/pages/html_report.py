"""Formats reports as one HTML page, which needs no other file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Sequence

from tpudist.tools import html_page
from tpudist.tools.compile.pages import by_line, terminal, units
from tpudist.tools.html_page import safe

if TYPE_CHECKING:
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


def page(report: Report, *more: Report) -> str:
    """Returns the text of the page; everything that comes from the program is escaped.

    Args:
      report: a `report.Report`.
      *more: further reports, one below the other.
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
        _arguments(report),
        _collectives(report),
        _splits(report),
        _notes(report),
        '<p class="small">%s</p>' % safe(terminal.versions(report)),
    ]


def _failure(report: Report) -> str:
    if not report.failure:
        return ""
    rows = [
        (units.size(each.bytes), each.shape, each.location, each.op_name)
        for each in report.failure.largest
    ]
    return "<pre>%s</pre>\n<p>%s</p>\n%s" % (
        safe(report.failure.message),
        safe("Instead: " + report.failure.instead),
        _table("Largest arrays, before optimization", ("", "shape", "line", "op"), rows),
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
        rows = "".join(
            '<div class="op"><span class="share">%s</span> %s <span class="much">%s</span></div>\n'
            % (units.size(each.bytes), safe(each.shape), safe(each.op_name))
            for each in arrays
        )
        lines.append(
            '<details><summary><span class="share">%s</span> %s <span class="much">%d '
            'array%s</span><div class="bar" style="width:%.2f%%"></div></summary>\n%s</details>\n'
            % (
                units.size(size),
                safe(line),
                len(arrays),
                "s" * (len(arrays) != 1),
                100 * size / whole,
                rows,
            )
        )
    return "<h2>Held at the peak</h2>\n%s" % "".join(lines)


def _cost(report: Report) -> str:
    cost = report.cost
    if not cost:
        return ""
    work = "<h2>Work</h2>\n" + "".join("<p>%s</p>" % safe(line) for line in terminal.work(cost))
    loops = [
        ("?" if each.trips is None else each.trips, each.times, each.location, each.op_name)
        for each in cost.loops
    ]
    table = _table("Loops", ("rounds", "times a step", "line", "op"), loops)
    return work + table + _cost_tree(by_line.costs(report))


def _cost_tree(nodes: Iterable[by_line.Node]) -> str:
    """Lists the lines; each opens to show its layers, instructions and ops, without a script."""
    if not nodes:
        return ""
    return (
        '<h2>Where it is hot</h2>\n%s\n<p class="small">Shares are of the compiler\'s '
        "estimate of cycles, as often as loops run: it ranks, and is no time. A fused "
        "instruction is shared out among its ops; compute, memory and network are what "
        "takes longest at the chip's peaks.</p>" % "".join(map(_node, nodes))
    )


def _node(node: by_line.Node) -> str:
    text = '<span class="share">%.1f %%</span> %s <span class="much">%s%sFLOP, %s%s</span>' % (
        100 * node.share,
        safe(node.label),
        safe(node.instruction + ", " if node.instruction else ""),
        units.amount(node.flops),
        units.size(node.bytes),
        ", " + node.bound if node.bound else "",
    )
    bar = '<div class="bar" style="width:%.2f%%"></div>' % (100 * node.share)
    if not node.below:
        return '<div class="op">%s%s</div>\n' % (text, bar)
    return "<details><summary>%s%s</summary>\n%s</details>\n" % (
        text,
        bar,
        "".join(map(_node, node.below)),
    )


def _arguments(report: Report) -> str:
    rows = [
        (
            units.size(each.bytes),
            each.name,
            each.kind,
            units.array(each.dtype, each.shape),
            units.array(each.dtype, each.device_shape),
            units.size(each.unpadded),
            each.location,
        )
        for each in report.arguments
    ]
    return _table(
        "Arguments",
        ("on a device", "name", "kind", "of a replica", "of a device", "without padding", "line"),
        rows,
    )


def _collectives(report: Report) -> str:
    rows = [
        (each.count, each.kind, units.size(each.bytes), stage, ", ".join(each.locations))
        for stage, groups in (("asked for", report.requested), ("compiled", report.optimized))
        for each in groups
    ]
    return _table("Collectives", ("", "kind", "bytes a device", "", "lines"), rows)


def _splits(report: Report) -> str:
    rows = [
        (
            "",
            each.name,
            each.description,
            list(each.global_shape),
            list(each.per_device_shape),
            each.location,
        )
        for each in report.splits
    ]
    return _table(
        "Logical devices", ("", "tensor", "annotation", "whole", "of a device", "line"), rows
    )


def _notes(report: Report) -> str:
    return "<ul>%s</ul>" % "".join("<li>%s</li>" % safe(each) for each in report.warnings)


def _table(title: str, headings: Iterable[str], rows: Sequence[Sequence[Any]]) -> str:
    """Formats a table whose first column holds numbers; "" if it has no rows."""
    if not rows:
        return ""
    body = "\n".join(
        '<tr><td class="number">%s</td>%s</tr>'
        % (safe(row[0]), "".join("<td>%s</td>" % safe(cell) for cell in row[1:]))
        for row in rows
    )
    return "<h2>%s</h2>\n<table>\n<tr>%s</tr>\n%s\n</table>" % (
        title,
        "".join("<th>%s</th>" % safe(cell) for cell in headings),
        body,
    )
