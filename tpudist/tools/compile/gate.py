"""What becomes of reports: shown, written, and held against limits and earlier ones.

Exit codes are those of the command line: 0, or 1 with the reason.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING

from tpudist import files
from tpudist.errors import ArgumentError, CompileError
from tpudist.tools.compile import compare, page, report, terminal, units

if TYPE_CHECKING:
    import argparse
    from typing import Any, Iterator, TextIO

    from tpudist.tools.compile.report import Report

_PLACE = re.compile(r"\S+\.py:[0-9]+")


def size(text: str) -> int:
    """Bytes of a text such as ``14GiB``.

    Args:
      text: a number, with a unit or of bytes.

    Raises:
      ArgumentError: (a ValueError) it is none.
    """
    try:
        return units.parsed(text)
    except ValueError as error:
        raise ArgumentError(
            "--max-hbm %s" % text, "it is no size", "a size such as 14GiB"
        ) from error


def load(path: str) -> list[Report]:
    """The reports of a file that ``--json`` wrote.

    Args:
      path: of the file.

    Raises:
      CompileError: (a RuntimeError) there is none, or it is of another schema.
    """
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        return [report.from_json(each) for each in found.get("reports", [found])]
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise CompileError(
            "the report %s" % path,
            "it cannot be read: %s" % error,
            "a file that tpudist compile --json of this release wrote",
        ) from error


def check(options: argparse.Namespace) -> None:
    """Refuses options that do not fit, before anything is run.

    Args:
      options: see :func:`finish`.

    Raises:
      TpudistError: a size or a report that cannot be read.
    """
    if options.max_hbm:
        size(options.max_hbm)
    if options.baseline:
        load(options.baseline)


def finish(made: list[tuple[str, Report]], options: argparse.Namespace) -> int:
    """Writes reports as the options ask, and judges them.

    Args:
      made: (name of the function, its report), in the order of the program.
      options: parsed ``json``, ``html``, ``max_hbm``, ``baseline``, ``rtol`` and
        ``github``; None or False where one was left out.

    Returns:
      0, or 1 if one does not compile, is larger than ``max_hbm``, or is not what the
      baseline is.
    """
    reports = [each for _, each in made]
    if options.json:
        files.write(options.json, json.dumps(_plain(made), indent=1) + "\n")
    if options.html:
        files.write(options.html, page.html(*reports))
    problems = list(_problems(reports, options))
    for place, text in problems:
        print("tpudist: %s" % text, file=sys.stderr)
        if options.github:
            print(annotation(place, text))
    return 1 if problems or not all(each.ok for each in reports) else 0


def refused(error: CompileError, options: argparse.Namespace, stream: TextIO | None = None) -> int:
    """Says why a step is no program; returns exit code 1.

    Args:
      error: what lowering it raised.
      options: parsed ``github``.
      stream: standard error if None.
    """
    print("does not compile: %s" % error, file=stream or sys.stderr)
    if options.github:
        place = _PLACE.search(error.seen)
        print(annotation(place.group() if place else "", str(error)))
    return 1


def _plain(made: list[tuple[str, Report]]) -> dict[str, Any]:
    plain = [dict(each.to_json(), name=name) for name, each in made]
    return plain[0] if len(plain) == 1 else {"schema": report.SCHEMA, "reports": plain}


def _problems(reports: list[Report], options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """(the user's line or "", text) of each reason for exit code 1."""
    for each in reports:
        if not each.ok:
            yield _place(each), "%s: %s" % (terminal.verdict(each), _failure(each))
        elif options.max_hbm and each.memory and each.memory.total > size(options.max_hbm):
            yield (
                _place(each),
                "%s of HBM a device, which is more than --max-hbm %s"
                % (units.size(each.memory.total), options.max_hbm),
            )
    if options.baseline:
        yield from _differences(load(options.baseline), reports, options.rtol)


def _failure(made: Report) -> str:
    return made.failure.message.splitlines()[0] if made.failure else ""


def _place(made: Report) -> str:
    """The line that a problem is of: of the largest array, or the hottest."""
    rows: Any = made.failure.largest if made.failure else made.hottest
    return next((each.location for each in rows if each.location), "")


def _differences(
    expected: list[Report], obtained: list[Report], rtol: float | None
) -> Iterator[tuple[str, str]]:
    """(line, text) of each way in which reports are not what they were."""
    if len(expected) != len(obtained):
        yield "", "%d programs, and the earlier report has %d" % (len(obtained), len(expected))
    for before, after in zip(expected, obtained):
        if not before.ok and after.ok:
            continue
        if not after.ok:
            if before.ok:
                yield _place(after), "it compiled before"
            continue
        said = compare.explain(before, after, compare.RTOL if rtol is None else rtol)
        if said:
            yield _place(after), "it does not compile to what it did before\n%s" % said


def compared(old: str, new: str, rtol: float | None = None) -> int:
    """``tpudist compile --compare OLD NEW``: whether two reports agree.

    Args:
      old, new: paths of files that ``--json`` wrote.
      rtol: relative tolerance of sizes and FLOPs.

    Returns:
      0, or 1 with what differs on standard output.
    """
    found = list(_differences(load(old), load(new), rtol))
    for _, text in found:
        print(text)
    print("" if found else "no difference: %s and %s" % (old, new), end="" if found else "\n")
    return 1 if found else 0


def annotation(place: str, text: str) -> str:
    """An error as GitHub Actions shows it at a line of the user's code.

    Args:
      place: "file:line", or "".
      text: of any number of lines.

    Reference: docs.github.com, "Workflow commands for GitHub Actions".
    """
    file, _, line = place.rpartition(":")
    at = " file=%s,line=%s" % (_escaped(os.path.relpath(file)), line) if file else ""
    return "::error%s::%s" % (at, _escaped(text, ""))


def _escaped(text: str, more: str = ":,") -> str:
    for letter in "%\r\n" + more:
        text = text.replace(letter, "%%%02X" % ord(letter))
    return text
