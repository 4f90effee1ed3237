"""A report as text, and the line that shows that the compiler works."""

import contextlib
import sys

from tpudist.tools.compile import tree, units

#: How many arguments and lines, and layers of a line, are shown, and how wide the memory bar is.
_SHOWN, _LAYERS, _BAR = 5, 3, 30

_HEAD = 10


def text(report):
    """A report to read at a glance.

    Args:
      report: a `report.Report`.

    Returns:
      Lines, with a newline at the end.
    """
    lines = [verdict(report)]
    for head, rows in _sections(report):
        lines += [
            (head if number == 0 else "").ljust(_HEAD) + row for number, row in enumerate(rows)
        ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def verdict(report):
    """The first line: whether it compiles, for what.

    Args:
      report: a `report.Report`.
    """
    target = report.target
    says = (
        "compiles"
        if report.ok
        else {
            "out-of-memory": "does not fit",
            "refused": "does not compile",
            "crash": "crashed the compiler",
            "timeout": "took the compiler too long",
        }[report.failure.kind]
    )
    line = "%s: %s%s, %d replica%s" % (
        says,
        target.topology,
        " (%s)" % target.chip if target.chip else "",
        target.replicas,
        "s" if target.replicas > 1 else "",
    )
    if target.logical_devices > 1:
        line += " of %d logical devices" % target.logical_devices
    return line + ("" if target.optimized else "  [--fast: little optimized]")


def _sections(report):
    if report.failure:
        yield "compiler", report.failure.message.splitlines()
        if report.failure.missing:
            yield "missing", ["%s of HBM a device" % units.size(report.failure.missing)]
        yield "instead", [report.failure.instead]
    if report.memory:
        yield "HBM", _memory(report)
    yield "arguments", _arguments(report)
    if report.failure:
        yield (
            "largest",
            [
                "%-10s %s"
                % (
                    units.size(each.bytes),
                    "  ".join(filter(None, (each.shape, each.location, each.op_name))),
                )
                for each in report.failure.largest[:_SHOWN]
            ],
        )
    if report.cost:
        yield "work", work(report)
    yield "asked for", list(map(_collectives, report.requested)) or ["no collectives"]
    if report.ok:
        yield "compiled", list(map(_collectives, report.optimized)) or ["no collectives"]
    yield (
        "split",
        [
            "%s: %s, %s -> %s on a device  %s"
            % (
                each.name,
                each.description,
                list(each.global_shape),
                list(each.per_device_shape),
                each.location,
            )
            for each in report.splits
        ],
    )
    yield ("at peak", _alive(report))
    yield ("hottest", _hottest(report))
    yield "notes", report.warnings
    yield "with", [versions(report)]


def _memory(report):
    memory, limit = report.memory, report.target.hbm
    share = memory.total / limit
    filled = min(_BAR, max(1, int(round(_BAR * share))))
    return [
        "%s of %s a device (%.1f %%)  [%s%s]"
        % (
            units.size(memory.total),
            units.size(limit),
            100 * share,
            "#" * filled,
            "." * (_BAR - filled),
        ),
        "arguments %s, temporary %s, code %s, outputs %s beside %s in place of arguments"
        % (
            units.size(memory.arguments),
            units.size(memory.temporary),
            units.size(memory.code),
            units.size(memory.outputs - memory.aliased),
            units.size(memory.aliased),
        ),
    ]


def _arguments(report):
    shown = report.arguments[:_SHOWN]
    rows = [
        "%-10s %s"
        % (
            units.size(each.bytes),
            "  ".join(
                filter(
                    None,
                    (
                        units.array(each.dtype, each.device_shape),
                        "%s %s" % (each.kind, each.name),
                        each.location,
                    ),
                )
            ),
        )
        for each in shown
    ]
    rest = report.arguments[len(shown) :]
    if rest:
        rows.append("%-10s %d more" % (units.size(sum(each.bytes for each in rest)), len(rest)))
    return rows


def _alive(report):
    """The lines whose arrays are held where the program holds most, and the largest of each."""
    rows = []
    for line, size, arrays in tree.alive(report)[:_LAYERS]:
        rest = " and %d more" % (len(arrays) - 1) if len(arrays) > 1 else ""
        rows.append(
            "%-10s %s  %s %s%s" % (units.size(size), line, arrays[0].shape, arrays[0].op_name, rest)
        )
    return rows


def _hottest(report):
    """The dearest lines, each with its dearest layers if it has several."""
    rows = []
    for line in tree.lines(report)[:_SHOWN]:
        rows.append("%3.0f %%  %s  %s" % (100 * line.share, line.label, _ops(line)))
        if len(line.below) > 1:
            layers = line.below[:_LAYERS]
            rows += [
                "%9.0f %%  %s  %s" % (100 * each.share, each.label, _ops(each)) for each in layers
            ]
    return rows


def _ops(node):
    """What a line or a layer consists of: its op, or how many."""
    while node.ops == 1 and node.below:
        node = node.below[0]
    return "%d ops" % node.ops if node.below else node.label


def work(report):
    """What a step costs, a list of lines; "unknown" where it is.

    Args:
      report: a `report.Report` of a program that compiles.
    """
    cost = report.cost
    flops = "unknown " if cost.flops is None else units.amount(cost.flops)
    accessed = "unknown" if cost.bytes_accessed is None else units.size(cost.bytes_accessed)
    rows = ["%sFLOP and %s of memory traffic a step on a device" % (flops, accessed)]
    if cost.loops:
        rounds = ["?" if each.trips is None else str(each.trips) for each in cost.loops]
        rows.append("as often as loops run: %s rounds" % ", ".join(rounds[:_SHOWN]))
    return rows


def _collectives(each):
    where = ", ".join(each.locations[:_SHOWN])
    if len(each.locations) > _SHOWN:
        where += " and %d more lines" % (len(each.locations) - _SHOWN)
    return "%d %s, %s a device  %s" % (each.count, each.kind, units.size(each.bytes), where)


def versions(report):
    """Who compiled, and how long it took.

    Args:
      report: a `report.Report`.
    """
    made, effort = report.versions, report.effort
    library = "libtpu %s" % made.libtpu + (" (PJRT %s)" % made.pjrt if made.pjrt else "")
    took = (
        ["kept from before"]
        if effort.cached
        else [
            "%.1f s" % effort.seconds if effort.seconds else "",
            units.size(effort.peak_bytes) if effort.peak_bytes else "",
        ]
    )
    return "; ".join(
        filter(
            None,
            [
                "%s, TensorFlow %s, tpudist %s" % (library, made.tensorflow, made.tpudist),
                ", ".join(filter(None, took)),
            ],
        )
    )


@contextlib.contextmanager
def progress(what, stream=None):
    """Shows a line with the seconds so far, on a terminal only; takes it away at the end.

    Args:
      what: the line's text.
      stream: standard error if None.

    Yields:
      A function of the seconds, or None where nothing is shown.
    """
    stream = stream or sys.stderr
    if not stream.isatty():
        yield None
        return

    def show(seconds):
        stream.write("\r%s  %d s " % (what, seconds))
        stream.flush()

    try:
        yield show
    finally:
        stream.write("\r%s\r" % (" " * (len(what) + 12)))
        stream.flush()
