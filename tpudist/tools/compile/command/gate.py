"""Writes reports to files, and compares them with limits and with earlier reports.

The functions return exit codes: 0, or 1 with the reason printed.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Iterator, Sequence

from tpudist import files
from tpudist.errors import ArgumentError, CompileError
from tpudist.toolbox import compare
from tpudist.tools.compile import report
from tpudist.tools.compile.pages import terminal, units
from tpudist.tools.compile.report import Refusal, Report

#: By how much HBM, FLOPs and bytes may differ.
RTOL = 0.05


def size(text: str) -> int:
    """Returns the bytes that ``--max-hbm`` names: a number, or one with a unit like ``14GiB``."""
    try:
        return units.parsed(text)
    except ValueError as error:
        raise ArgumentError(
            "--max-hbm %s" % text, "it is no size", "a size such as 14GiB"
        ) from error


def load(path: str) -> list[dict[str, Any]]:
    """Reads the reports of a file that ``--json`` wrote, as JSON types.

    Raises:
      CompileError: there is no such file, or it is of another schema.
    """
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        if content.get("schema") != report.SCHEMA:
            raise ValueError("schema %r is not %d" % (content.get("schema"), report.SCHEMA))
        reports: list[dict[str, Any]] = content.get("reports", [content])
        return reports
    except (OSError, ValueError, AttributeError) as error:
        raise CompileError(
            "the report %s" % path,
            "it cannot be read: %s" % error,
            "a file that tpudist run --compile --json of this release wrote",
        ) from error


def check(options: argparse.Namespace) -> None:
    """Refuses sizes and reports among the options that cannot be read, before anything is run."""
    if options.max_hbm:
        size(options.max_hbm)
    if options.baseline:
        load(options.baseline)


def finish(
    named: list[tuple[str, Report]], options: argparse.Namespace, refused: Sequence[Refusal] = ()
) -> int:
    """Writes reports, each with its function's name, where the options say, and checks them.

    Returns:
      0, or 1 if a function is refused, or a program does not compile, is larger than
      ``max_hbm``, or differs from the baseline.
    """
    reports = [each for _, each in named]
    if options.json:
        files.write(options.json, json.dumps(_json(named, refused), indent=1) + "\n")
    problems = list(_problems(reports, options))
    for text in problems:
        print("tpudist: %s" % text, file=sys.stderr)
    return 1 if problems or refused or not all(each.ok for each in reports) else 0


def _json(named: list[tuple[str, Report]], refused: Sequence[Refusal]) -> dict[str, Any]:
    objects = [dict(each.to_json(), name=name) for name, each in named]
    if len(objects) == 1 and not refused:
        return objects[0]
    return {"schema": report.SCHEMA, "reports": objects, "refused": report.plain(refused)}


def _problems(reports: list[Report], options: argparse.Namespace) -> Iterator[str]:
    """Yields each reason for exit code 1."""
    for each in reports:
        if each.failure:
            yield "%s: %s" % (terminal.verdict(each), each.failure.message.splitlines()[0])
        elif options.max_hbm and each.memory and each.memory.total > size(options.max_hbm):
            yield (
                "%s of HBM a device, which is more than --max-hbm %s"
                % (units.size(each.memory.total), options.max_hbm)
            )
    if options.baseline:
        yield from _differences(load(options.baseline), reports, options.rtol)


def _differences(
    expected: list[dict[str, Any]], obtained: list[Report], rtol: float | None
) -> Iterator[str]:
    """Yields each difference from earlier reports."""
    if len(expected) != len(obtained):
        yield "%d programs, and the earlier report has %d" % (len(obtained), len(expected))
    for before, after in zip(expected, obtained):
        if before["ok"] and not after.ok:
            yield "it compiled before"
        elif before["ok"]:
            text = difference(before["compared"], after.compared(), RTOL if rtol is None else rtol)
            if text:
                yield "it does not compile to what it did before%s\n%s" % (
                    _other_libtpu(before["versions"]["libtpu"], after.versions.libtpu),
                    text,
                )


def _other_libtpu(before: str, after: str) -> str:
    return "" if before == after else ", with libtpu %s; it is %s now" % (before, after)


def difference(before: dict[str, Any], after: dict[str, Any], rtol: float = RTOL) -> str:
    """Formats the differences of what two reports are compared by, as indented lines; "" if none.

    HBM, FLOPs and bytes may differ by the tolerance `rtol`.
    """
    differences = compare.differences(before, after, rtol)
    return compare.explain(before, after, differences) if differences else ""
