"""Formats a report as text, and sizes and numbers for people."""

from __future__ import annotations

import collections
import re
from typing import Iterator, Sequence

from tpudist.tools.compile.report import Collectives, Cost, Report

#: How many arguments, arrays and ops are shown.
_SHOWN = 5

#: Labels where the line or the op is not known.
_NO_LINE, _NO_OP = "(no line of the user's)", "(the compiler's own)"

#: The width of the headings at the left, in characters.
_HEADING = 10


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
        yield "instead", [report.failure.instead]
    memory, limit = report.memory, report.target.hbm
    if memory:
        sizes = [memory.arguments, memory.temporary, memory.code, memory.outputs - memory.aliased]
        yield (
            "HBM",
            [
                "%s of %s a device (%.1f %%)"
                % (size(memory.total), size(limit), 100 * memory.total / limit),
                "arguments %s, temporary %s, code %s, outputs %s beside %s in place of arguments"
                % tuple(map(size, [*sizes, memory.aliased])),
            ],
        )
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


def _row(count: float, *words: str) -> str:
    return "%-10s %s" % (size(count), "  ".join(filter(None, words)))


def _arguments(report: Report) -> list[str]:
    shown, rest = report.arguments[:_SHOWN], report.arguments[_SHOWN:]
    rows = [
        _row(
            each.bytes,
            "%s[%s]" % (each.dtype, ",".join(map(str, each.device_shape))),
            "%s %s" % (each.kind, each.name),
            each.location,
        )
        for each in shown
    ]
    if rest:
        rows.append(_row(sum(each.bytes for each in rest), "%d more" % len(rest)))
    return rows


def _hottest(report: Report) -> list[str]:
    """Formats the most expensive layers, else ops, each with the user's line."""
    shares: dict[tuple[str, str], float] = collections.defaultdict(float)
    for each in report.hottest:
        shares[each.location or _NO_LINE, each.layer or each.op_name or _NO_OP] += each.share
    ranked = sorted(shares.items(), key=lambda row: -row[1])
    return ["%3.0f %%  %s  %s" % (100 * share, *where) for where, share in ranked[:_SHOWN]]


def _cost(cost: Cost) -> list[str]:
    """Formats the compiler's own count; "unknown" where it does not say."""
    flops = "unknown " if cost.flops is None else amount(cost.flops)
    accessed = "unknown" if cost.bytes_accessed is None else size(cost.bytes_accessed)
    rows = ["%sFLOP and %s of memory traffic a step on a device" % (flops, accessed)]
    if cost.loops:
        rows.append("all figures count one round of each loop: " + _some(cost.loops))
    return rows


def _collectives(group: Collectives) -> str:
    where = _some(group.locations)
    return "%d %s, %s a device  %s" % (group.count, group.kind, size(group.bytes), where)


def _some(lines: Sequence[str]) -> str:
    more = len(lines) - _SHOWN
    return ", ".join(lines[:_SHOWN]) + (" and %d more" % more if more > 0 else "")


def versions(report: Report) -> str:
    """Formats which releases compiled the program, and how long that took."""
    used, effort = report.versions, report.effort
    library = "libtpu %s" % used.libtpu + (" (PJRT %s)" % used.pjrt if used.pjrt else "")
    took = [
        "%.1f s" % effort.seconds if effort.seconds else "",
        size(effort.peak_bytes) if effort.peak_bytes else "",
    ]
    releases = "%s, TensorFlow %s, tpudist %s" % (library, used.tensorflow, used.tpudist)
    return "; ".join(filter(None, [releases, ", ".join(filter(None, took))]))


_SIZE = re.compile(r"^\s*([0-9]*\.?[0-9]+)\s*(B|KiB|MiB|GiB|TiB|KB|MB|GB|TB)?\s*$", re.I)
_LETTERS = "BKMGT"
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")
_DECIMAL = ("", "k", "M", "G", "T", "P")


def size(count: float) -> str:
    """Formats a number of bytes, such as ``"15.7 GiB"``."""
    return _scaled(count, 1024, _BINARY)


def parsed_size(text: str) -> int:
    """Returns the bytes that a text such as ``14GiB`` or ``512`` means, or raises a ValueError."""
    match = _SIZE.match(text)
    if not match:
        raise ValueError(text)
    unit = (match.group(2) or "B").upper()
    step = 1024 if "I" in unit else 1000
    return int(float(match.group(1)) * step ** _LETTERS.index(unit[0]))


def amount(count: float) -> str:
    """Formats a plain number with a decimal prefix, such as ``"3.01 G"`` of FLOPs."""
    return _scaled(count, 1000, _DECIMAL)


def _scaled(count: float, step: int, units: Sequence[str]) -> str:
    unit = units[0]
    for larger in units[1:]:
        if abs(count) < step:
            break
        count, unit = count / step, larger
    return "%.*f %s" % (0 if unit in ("", "B") else 1 if abs(count) >= 10 else 2, count, unit)
