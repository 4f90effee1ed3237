"""Runs a script and compiles each function that it runs on replicas: ``tpudist run --compile``."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import Any, Iterator

from tpudist import console, machine
from tpudist.errors import TopologyError
from tpudist.legacy import start
from tpudist.surfaces import slices
from tpudist.tools.compile import step
from tpudist.tools.compile.command import gate
from tpudist.tools.compile.compiler import compilation, libtpu
from tpudist.tools.compile.pages import terminal
from tpudist.tools.compile.report import Report


class _Stop(BaseException):
    """Ends a script before its end; no Exception, so that the script does not catch it."""


def run(options: argparse.Namespace) -> int:
    """Runs a script, and compiles every replica function that it ran.

    Without ``tpu`` and TPUDIST_TPU the script gets a virtual TPU of the slice's size.

    Returns:
      The script's exit code; if that is 0, 1 if a function does not compile or is not
      within the limits, or if none ran.

    Raises:
      TopologyError: there is no such slice, or a strategy of the script does not fit it: the
        script ends where it first runs a function.
    """
    gate.check(options)
    slice_ = slices.find(options.compile)
    if options.module:  # both are refused before anything else if they are not there
        start.Module(options.module)
    else:
        start.Script(options.script)
    from tpudist.legacy import runner  # It asks TensorFlow for its version.

    step.require()
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
    reports = [(each.name, _report(each, slice_, options)) for each in recorded]
    refused = [one for each in recorded for one in each.refusals()]
    if not recorded:
        print(
            "tpudist run: the script ran no function on replicas, so there was nothing to compile",
            file=sys.stderr,
        )
    compiled = [(name, each) for name, each in reports if each is not None]
    return code or gate.finish(compiled, options, refused) or int(not recorded)


@contextlib.contextmanager
def _recording(recorded: list[Any], slice_: slices.Slice) -> Iterator[None]:
    """Records the replica functions that the block runs, and adds them to a list at its end."""
    from tpudist.tools.compile.lowering import recording  # It imports TensorFlow.

    def check(strategy: object) -> None:
        try:
            step.check(strategy, slice_)
        except TopologyError as error:
            raise _Stop(error) from error

    with recording.Recorder(check) as recorder:
        try:
            yield
        finally:
            recorded += recorder.programs()


def _report(recorded: Any, slice_: slices.Slice, options: argparse.Namespace) -> Report | None:
    """Compiles a function and prints its report; returns it, None if it was not lowered."""
    print("\n%s" % recorded.name)
    if recorded.error is not None:
        print("does not compile: %s" % recorded.error)
        return None
    with console.working("compiling for %s" % slice_.name):
        report = compilation.compile_program(
            recorded.program, slice_, options.fast, options.timeout or compilation.TIMEOUT
        )
    print(terminal.text(report), end="")
    return report
