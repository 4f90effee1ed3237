"""Writes reports to files, and compares them with limits and with earlier reports.

The functions return exit codes: 0, or 1 with the reason printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from typing import Any, Iterator, TextIO

from tpudist import files
from tpudist.errors import ArgumentError, CompileError
from tpudist.toolbox import compare
from tpudist.toolbox.compare import COMPILED_RTOL as RTOL
from tpudist.tools.compile import report
from tpudist.tools.compile.pages import terminal, units
from tpudist.tools.compile.report import Report

_LOCATION = re.compile(r"\S+\.py:[0-9]+")


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
            "a file that tpudist compile --json of this release wrote",
        ) from error


def check(options: argparse.Namespace) -> None:
    """Refuses sizes and reports among the options that cannot be read, before anything is run."""
    if options.max_hbm:
        size(options.max_hbm)
    if options.baseline:
        load(options.baseline)


def finish(named: list[tuple[str, Report]], options: argparse.Namespace) -> int:
    """Writes reports where the options say, and checks them.

    Args:
      named: (name of the function, its report), in the order of the program.
      options: of the verb; None or False where one was left out.

    Returns:
      0, or 1 if a program does not compile, is larger than ``max_hbm``, or differs from
      the baseline.
    """
    reports = [each for _, each in named]
    if options.json:
        files.write(options.json, json.dumps(_json(named), indent=1) + "\n")
    problems = list(_problems(reports, options))
    for location, text in problems:
        print("tpudist: %s" % text, file=sys.stderr)
        if options.github:
            print(annotation(location, text))
    return 1 if problems or not all(each.ok for each in reports) else 0


def refused(error: CompileError, options: argparse.Namespace, stream: TextIO | None = None) -> int:
    """Prints why a step cannot be lowered, on standard error by default; returns exit code 1."""
    print("does not compile: %s" % error, file=stream or sys.stderr)
    if options.github:
        location = _LOCATION.search(error.seen)
        print(annotation(location.group() if location else "", str(error)))
    return 1


def _json(named: list[tuple[str, Report]]) -> dict[str, Any]:
    objects = [dict(each.to_json(), name=name) for name, each in named]
    return objects[0] if len(objects) == 1 else {"schema": report.SCHEMA, "reports": objects}


def _problems(reports: list[Report], options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yields (the user's line or "", text) of each reason for exit code 1."""
    for each in reports:
        if not each.ok:
            yield _location(each), "%s: %s" % (terminal.verdict(each), _failure(each))
        elif options.max_hbm and each.memory and each.memory.total > size(options.max_hbm):
            yield (
                _location(each),
                "%s of HBM a device, which is more than --max-hbm %s"
                % (units.size(each.memory.total), options.max_hbm),
            )
    if options.baseline:
        yield from _differences(load(options.baseline), reports, options.rtol)


def _failure(failed: Report) -> str:
    return failed.failure.message.splitlines()[0] if failed.failure else ""


def _location(problematic: Report) -> str:
    """Returns the line to show a problem at: that of the largest array, or the hottest one."""
    rows: Any = problematic.failure.largest if problematic.failure else problematic.hottest
    return next((each.location for each in rows if each.location), "")


def _differences(
    expected: list[dict[str, Any]], obtained: list[Report], rtol: float | None
) -> Iterator[tuple[str, str]]:
    """Yields (line, text) of each difference from earlier reports."""
    if len(expected) != len(obtained):
        yield "", "%d programs, and the earlier report has %d" % (len(obtained), len(expected))
    for before, after in zip(expected, obtained):
        if not before["ok"]:
            continue
        if not after.ok:
            yield _location(after), "it compiled before"
            continue
        text = difference(before["compared"], after.compared(), RTOL if rtol is None else rtol)
        if text:
            yield _location(after), "it does not compile to what it did before\n%s" % text


def annotation(location: str, text: str) -> str:
    """Formats an error so that GitHub Actions shows it at a line of the user's code, "file:line".

    Reference: docs.github.com, "Workflow commands for GitHub Actions".
    """
    file, _, line = location.rpartition(":")
    properties = " file=%s,line=%s" % (_escaped(os.path.relpath(file)), line) if file else ""
    return "::error%s::%s" % (properties, _escaped(text, ""))


def _escaped(text: str, more: str = ":,") -> str:
    for letter in "%\r\n" + more:
        text = text.replace(letter, "%%%02X" % ord(letter))
    return text


def difference(before: dict[str, Any], after: dict[str, Any], rtol: float = RTOL) -> str:
    """Formats the differences of what two reports are compared by, as indented lines; "" if none.

    HBM, FLOPs and bytes may differ by the tolerance `rtol`.
    """
    differences = compare.of_kind("compiled")(before, after, rtol)
    return compare.explain(before, after, differences) if differences else ""
