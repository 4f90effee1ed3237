"""A report as one HTML page that needs nothing beside it."""

from tpudist.tools import html_page
from tpudist.tools.compile import terminal, tree, units
from tpudist.tools.html_page import safe

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

#: Of the memory bar: what is shown, and its colour.
_PARTS = (
    ("arguments", "#4878a8"),
    ("temporary", "#e08a3c"),
    ("code", "#7a6ca8"),
    ("outputs", "#6aa86a"),
)

_WIDTH, _HEIGHT = 800, 160


def html(report, *more):
    """The page's text; everything that comes from the program is escaped.

    Args:
      report: a `report.Report`.
      *more: further ones, one below the other.
    """
    parts = _sections(report)
    for each in more:
        parts += ["<h1>%s</h1>" % safe(terminal.verdict(each))] + _sections(each)
    return html_page.whole(terminal.verdict(report), parts, style=_STYLE)


def _sections(report):
    made = [_failure, _memory, _course, _cost, _arguments, _collectives, _splits, _notes]
    versions = '<p class="small">%s</p>' % safe(terminal.versions(report))
    return [section(report) for section in made] + [versions]


def _failure(report):
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


def _memory(report):
    if not report.memory:
        return ""
    memory, limit = report.memory, report.target.hbm
    sizes = dict(memory._asdict(), outputs=memory.outputs - memory.aliased)
    full, left, drawn, legend = max(memory.total, limit), 0.0, [], []
    for name, colour in _PARTS:
        width = _WIDTH * sizes[name] / full
        drawn.append(
            '<rect x="%.2f" y="0" width="%.2f" height="30" fill="%s">'
            "<title>%s %s</title></rect>" % (left, width, colour, name, units.size(sizes[name]))
        )
        legend.append(
            '<tspan fill="%s">&#9632;</tspan> %s %s' % (colour, name, units.size(sizes[name]))
        )
        left += width
    drawn.append(
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
            "".join(drawn),
            " &#160; ".join(legend),
            units.size(memory.aliased),
        )
    )


def _course(report):
    """A picture of memory over the program, and what is held at its peak."""
    if not report.held:
        return _alive(report)
    limit, count = report.target.hbm, len(report.held)
    full = max(max(report.held), 1)
    peak = report.held.index(max(report.held))
    points = ["0,%d" % _HEIGHT]
    for number, held in enumerate(report.held):
        left, right = _WIDTH * number / count, _WIDTH * (number + 1) / count
        top = _HEIGHT * (1 - held / full)
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
            _alive(report),
        )
    )


def _alive(report):
    """The arrays at the peak: lines, each to be opened for its arrays."""
    if not report.alive:
        return ""
    whole = sum(each.bytes for each in report.alive)
    lines = []
    for line, size, arrays in tree.alive(report):
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


def _cost(report):
    if not report.cost:
        return ""
    made = "<h2>Work</h2>\n" + "".join("<p>%s</p>" % safe(line) for line in terminal.work(report))
    return made + _loops(report) + _tree(tree.lines(report))


def _loops(report):
    rows = [
        ("?" if each.trips is None else each.trips, each.times, each.location, each.op_name)
        for each in report.cost.loops
    ]
    return _table("Loops", ("rounds", "times a step", "line", "op"), rows)


def _tree(nodes):
    """The lines, each to be opened for its layers, instructions and ops; no script."""
    if not nodes:
        return ""
    return (
        '<h2>Where it is hot</h2>\n%s\n<p class="small">Shares are of the compiler\'s '
        "estimate of cycles, as often as loops run: it ranks, and is no time. A fused "
        "instruction is shared out among its ops; compute, memory and network are what "
        "takes longest at the chip's peaks.</p>" % "".join(map(_node, nodes))
    )


def _node(node):
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


def _arguments(report):
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


def _collectives(report):
    rows = [
        (each.count, each.kind, units.size(each.bytes), what, ", ".join(each.locations))
        for what, found in (("asked for", report.requested), ("compiled", report.optimized))
        for each in found
    ]
    return _table("Collectives", ("", "kind", "bytes a device", "", "lines"), rows)


def _splits(report):
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


def _notes(report):
    return "<ul>%s</ul>" % "".join("<li>%s</li>" % safe(each) for each in report.warnings)


def _table(title, head, rows):
    """A table whose first column are numbers; empty without rows."""
    if not rows:
        return ""
    body = "\n".join(
        '<tr><td class="number">%s</td>%s</tr>'
        % (safe(row[0]), "".join("<td>%s</td>" % safe(cell) for cell in row[1:]))
        for row in rows
    )
    return "<h2>%s</h2>\n<table>\n<tr>%s</tr>\n%s\n</table>" % (
        title,
        "".join("<th>%s</th>" % safe(cell) for cell in head),
        body,
    )
