"""Formats a report as text."""

from __future__ import annotations

from typing import Iterable, Iterator, Sequence

from tpudist.tools.compile.pages import units
from tpudist.tools.compile.report import Collectives, Cost, Hot, Memory, Report

#: How many arguments and lines, and layers of a line, are shown.
_SHOWN, _LAYERS = 5, 3

#: Labels where the line, the layer or the op is not known.
_NO_LINE, _NO_LAYER, _NO_OP = "(no line of the user's)", "(no layer)", "(the compiler's own)"

#: Widths in characters: of the memory bar, and of the headings at the left.
_BAR, _HEADING = 30, 10


def text(report: Report) -> str:
    """Formats a report to be read at a glance, as lines with a newline at the end."""
    lines = [verdict(report)]
    for heading, rows in _sections(report):
        lines += [
            (heading if number == 0 else "").ljust(_HEADING) + row
            for number, row in enumerate(rows)
        ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


_FAILURES = {
    "out-of-memory": "does not fit",
    "refused": "does not compile",
    "crash": "crashed the compiler",
    "timeout": "took the compiler too long",
}


def verdict(report: Report) -> str:
    """Formats the first line: whether the program compiles, and for what."""
    target = report.target
    line = "%s: %s%s, %d replica%s" % (
        _FAILURES[report.failure.kind] if report.failure else "compiles",
        target.topology,
        " (%s)" % target.chip if target.chip else "",
        target.replicas,
        "s" if target.replicas > 1 else "",
    )
    if target.logical_devices > 1:
        line += " of %d logical devices" % target.logical_devices
    return line + ("" if target.optimized else "  [--fast: little optimized]")


def _sections(report: Report) -> Iterator[tuple[str, Sequence[str]]]:
    """Yields (heading, rows) of each section; one without rows is not shown."""
    if report.failure:
        yield "compiler", report.failure.message.splitlines()
        if report.failure.missing:
            yield "missing", ["%s of HBM a device" % units.size(report.failure.missing)]
        yield "instead", [report.failure.instead]
    if report.memory:
        yield "HBM", _memory(report.memory, report.target.hbm)
    yield "arguments", _arguments(report)
    if report.failure:
        yield (
            "largest",
            [
                _row(each.bytes, each.shape, each.location, each.op_name)
                for each in report.failure.largest[:_SHOWN]
            ],
        )
    if report.cost:
        yield "work", _cost(report.cost)
    yield "asked for", list(map(_collectives, report.requested)) or ["no collectives"]
    if report.ok:
        yield "compiled", list(map(_collectives, report.optimized)) or ["no collectives"]
    yield "hottest", _hottest(report)
    yield "notes", report.warnings
    yield "with", [versions(report)]


def _memory(memory: Memory, limit: int) -> list[str]:
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


def _row(size: float, *words: str) -> str:
    return "%-10s %s" % (units.size(size), "  ".join(filter(None, words)))


def _arguments(report: Report) -> list[str]:
    shown, rest = report.arguments[:_SHOWN], report.arguments[_SHOWN:]
    rows = [
        _row(
            each.bytes,
            units.array(each.dtype, each.device_shape),
            "%s %s" % (each.kind, each.name),
            each.location,
        )
        for each in shown
    ]
    if rest:
        rows.append(_row(sum(each.bytes for each in rest), "%d more" % len(rest)))
    return rows


def _hottest(report: Report) -> list[str]:
    """Formats the most expensive lines, each with its most expensive layers if it has several."""
    rows = []
    for line, share, inside in _shares(report.hottest, "location")[:_SHOWN]:
        layers = _shares(inside, "layer")
        rows.append("%3.0f %%  %s  %s" % (100 * share, line or _NO_LINE, _ops(inside)))
        for layer, part, ops in layers[:_LAYERS] if len(layers) > 1 else ():
            rows.append("%9.0f %%  %s  %s" % (100 * part, layer or _NO_LAYER, _ops(ops)))
    return rows


def _shares(hottest: Iterable[Hot], field: str) -> list[tuple[str, float, list[Hot]]]:
    """Groups instructions by a field; returns (its value, their share, they), most first."""
    groups: dict[str, list[Hot]] = {}
    for each in hottest:
        groups.setdefault(getattr(each, field), []).append(each)
    shares = [(name, sum(each.share for each in group), group) for name, group in groups.items()]
    return sorted(shares, key=lambda row: -row[1])


def _ops(group: list[Hot]) -> str:
    """Returns the name of a group's only op, or how many ops it has."""
    names = {each.op_name for each in group}
    return (names.pop() or _NO_OP) if len(names) == 1 else "%d ops" % len(names)


def _cost(cost: Cost) -> list[str]:
    """Formats the compiler's own count; "unknown" where it does not say."""
    flops = "unknown " if cost.flops is None else units.amount(cost.flops)
    accessed = "unknown" if cost.bytes_accessed is None else units.size(cost.bytes_accessed)
    rows = ["%sFLOP and %s of memory traffic a step on a device" % (flops, accessed)]
    if cost.loops:
        counts = ["?" if each.trips is None else str(each.trips) for each in cost.loops]
        rows.append("counting one round of each loop; they run %s" % ", ".join(counts[:_SHOWN]))
    return rows


def _collectives(group: Collectives) -> str:
    where = ", ".join(group.locations[:_SHOWN])
    if len(group.locations) > _SHOWN:
        where += " and %d more lines" % (len(group.locations) - _SHOWN)
    return "%d %s, %s a device  %s" % (group.count, group.kind, units.size(group.bytes), where)


def versions(report: Report) -> str:
    """Formats which releases compiled the program, and how long that took."""
    used, effort = report.versions, report.effort
    library = "libtpu %s" % used.libtpu + (" (PJRT %s)" % used.pjrt if used.pjrt else "")
    took = [
        "%.1f s" % effort.seconds if effort.seconds else "",
        units.size(effort.peak_bytes) if effort.peak_bytes else "",
    ]
    releases = "%s, TensorFlow %s, tpudist %s" % (library, used.tensorflow, used.tpudist)
    return "; ".join(filter(None, [releases, ", ".join(filter(None, took))]))
