"""Runs a script and compiles each function that it runs on replicas: ``tpudist run --compile``.

Writes the reports to a file, and compares them with limits and with earlier reports.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any, Iterator, Sequence

from tpudist import console, files, machine
from tpudist.errors import ArgumentError, CompileError, TopologyError
from tpudist.legacy import runner, start
from tpudist.surfaces import slices
from tpudist.toolbox import compare
from tpudist.tools.compile import report, step, terminal
from tpudist.tools.compile.compiler import compilation, libtpu
from tpudist.tools.compile.lowering import recording, to_hlo
from tpudist.tools.compile.report import Refusal, Report

if TYPE_CHECKING:
    from tpudist.annotations import Strategy


class _Stop(BaseException):
    """Ends a script before its end; no Exception, so that the script does not catch it."""


def run(options: argparse.Namespace) -> int:
    """Runs a script, and compiles every replica function that it ran.

    Without ``tpu`` and TPUDIST_TPU the script gets a virtual TPU of the slice's size. Returns the
    script's exit code; if that is 0, 1 if a function does not compile or is not within the limits,
    or if none ran. A script with a strategy that does not fit the slice ends with a TopologyError.
    """
    if options.max_hbm:  # what cannot be read is refused before anything is run
        size(options.max_hbm)
    if options.baseline:
        load(options.baseline)
    slice_ = slices.find(options.compile)
    if options.module:  # both are refused before anything else if they are not there
        start.Module(options.module)
    else:
        start.Script(options.script)
    to_hlo.require()
    libtpu.find()
    tpu = options.tpu
    if tpu is None and not os.environ.get(machine.TPU):
        tpu = "virtual:%d" % slice_.devices
    recorded: list[Any] = []
    try:
        code = runner.of_options(options, tpu, _recording(recorded, slice_))
    except _Stop as stop:
        raise stop.args[0] from None
    count = len(recorded)
    print("compiled for %s: %d replica function%s" % (slice_.name, count, "s" * (count != 1)))
    compiled = []
    for each in recorded:
        print("\n%s" % each.name)
        if each.error is not None:
            print("does not compile: %s" % each.error)
            continue
        with console.working("compiling for %s" % slice_.name):
            found = compilation.compile_program(each.program, slice_, options.fast, options.timeout)
        print(terminal.text(found), end="")
        compiled.append((each.name, found))
    if not recorded:
        told = "the script ran no function on replicas, so there was nothing to compile"
        print("tpudist run: " + told, file=sys.stderr)
    refused = [one for each in recorded for one in each.refusals()]
    return code or finish(compiled, options, refused) or int(not recorded)


@contextlib.contextmanager
def _recording(recorded: list[Any], slice_: slices.Slice) -> Iterator[None]:
    """Records the replica functions that the block runs, and adds them to a list at its end."""

    def check(strategy: Strategy) -> None:
        try:
            step.check(strategy, slice_)
        except TopologyError as error:
            raise _Stop(error) from error

    with recording.Recorder(check) as recorder:
        try:
            yield
        finally:
            recorded += recorder.programs()


def size(text: str) -> int:
    """Returns the bytes that ``--max-hbm`` names: a number, or one with a unit like ``14GiB``."""
    try:
        return terminal.parsed_size(text)
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


def finish(
    named: list[tuple[str, Report]], options: argparse.Namespace, refused: Sequence[Refusal] = ()
) -> int:
    """Writes reports, each with its function's name, where the options say, and checks them.

    1 if a function is refused, or a program does not compile, is too large, or differs; else 0.
    """
    if options.json:
        objects = [dict(each.to_json(), name=name) for name, each in named]
        whole = {"schema": report.SCHEMA, "reports": objects, "refused": report.plain(refused)}
        is_one = len(objects) == 1 and not refused
        files.write(options.json, json.dumps(objects[0] if is_one else whole, indent=1) + "\n")
    problems = list(_problems([each for _, each in named], options))
    for text in problems:
        print("tpudist: %s" % text, file=sys.stderr)
    return 1 if problems or refused else 0


def _problems(reports: list[Report], options: argparse.Namespace) -> Iterator[str]:
    """Yields each reason for exit code 1."""
    for each in reports:
        if each.failure:
            yield "%s: %s" % (terminal.verdict(each), each.failure.message.splitlines()[0])
        elif options.max_hbm and each.memory and each.memory.total > size(options.max_hbm):
            yield (
                "%s of HBM a device, which is more than --max-hbm %s"
                % (terminal.size(each.memory.total), options.max_hbm)
            )
    expected = load(options.baseline) if options.baseline else []
    if options.baseline and len(expected) != len(reports):
        yield "%d programs, and the earlier report has %d" % (len(reports), len(expected))
    for before, after in zip(expected, reports):
        if before["ok"] and not after.ok:
            yield "it compiled before"
        elif before["ok"]:
            text = difference(before["compared"], after.compared(), options.rtol)
            old, new = before["versions"]["libtpu"], after.versions.libtpu
            other = "" if old == new else ", with libtpu %s; it is %s now" % (old, new)
            if text:
                yield "it does not compile to what it did before%s\n%s" % (other, text)


def difference(before: dict[str, Any], after: dict[str, Any], rtol: float = 0.05) -> str:
    """Formats what differs between two reports by more than `rtol`, as indented lines; or ""."""
    differences = compare.differences(before, after, rtol)
    return compare.explain(before, after, differences) if differences else ""
