"""Runs a script and compiles each function that it runs on replicas: ``tpudist run --compile``."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from typing import TYPE_CHECKING

from tpudist import machine
from tpudist.errors import CompileError, TopologyError
from tpudist.legacy import start
from tpudist.surfaces import slices
from tpudist.tools.compile import step
from tpudist.tools.compile.command import compile_command, gate, replica_calls
from tpudist.tools.compile.compiler import compilation
from tpudist.tools.compile.pages import terminal

if TYPE_CHECKING:
    import argparse
    from typing import Any, Hashable, Iterator

    from tpudist.tools.compile.report import Report


class _Stop(BaseException):
    """Ends a script before its end; no Exception, so that the script does not catch it."""


def run(options: argparse.Namespace) -> int:
    """Runs a script, and compiles every replica function that it ran.

    Args:
      options: parsed ``script``, ``arguments``, ``era``, ``keras``, ``tpu``, ``compile`` (the
        slice), ``fast``, ``timeout``, ``hlo``, ``lower_with``, ``trace_only`` and those
        of ``gate.finish``. Without ``tpu`` and TPUDIST_TPU the script gets a virtual TPU
        of the slice's size.

    Returns:
      The script's exit code; if that is 0, 1 if a function does not compile or is not
      within the limits, or if none ran.

    Raises:
      TopologyError: (a ValueError) there is no such slice, or a strategy of the script
        does not fit it: the script ends where it first runs a function.
      CompileError: (a RuntimeError) this TensorFlow cannot lower a step, and no other
        one is named; or libtpu cannot be used.
    """
    gate.check(options)
    slice_ = slices.find(options.compile)
    path = (start.Module(options.module) if options.module else start.Script(options.script)).path
    from tpudist.legacy import runner  # It asks TensorFlow for its version.

    step.require_lowering(options.lower_with)
    compilation.require(slice_)
    tpu = options.tpu
    if tpu is None and not os.environ.get(machine.TPU):
        tpu = "virtual:%d" % slice_.devices
    recorded: list[Any] = []
    recording = _recording(recorded, slice_, path if options.trace_only else None, options)
    try:
        code = runner.of_options(options, tpu, recording)
    except _Stop as stop:
        if stop.args:
            raise stop.args[0] from None
        code = 0
    count = len(recorded)
    print("compiled for %s: %d replica function%s" % (slice_.name, count, "s" * (count != 1)))
    reports = [(each.name, _report(each, slice_, options)) for each in recorded]
    if not recorded:
        print(
            "tpudist run: the script ran no function on replicas, so there was nothing to compile",
            file=sys.stderr,
        )
    checked = gate.finish([(name, each) for name, each in reports if each is not None], options)
    return code or (1 if not reports or None in [each for _, each in reports] else checked)


@contextlib.contextmanager
def _recording(
    recorded: list[Any], slice_: slices.Slice, path: str | None, options: argparse.Namespace
) -> Iterator[None]:
    """Records the replica functions that the block runs, and adds them to a list at its end.

    Args:
      recorded: gets a ``recording.Recorded`` for each function.
      slice_: that strategies have to fit.
      path: of the script, if its functions are traced only, and not run; else None.
      options: parsed ``lower_with``.
    """
    from tpudist.tools.compile.lowering import recording  # It imports TensorFlow.

    def check(strategy: Any) -> None:
        try:
            step.check(strategy, slice_.name)
        except TopologyError as error:
            raise _Stop(error) from error

    calls = replica_calls.Calls(path) if path else None
    traced = functools.partial(_traced, calls) if calls else None
    with recording.Recorder(check, traced) as recorder:
        try:
            yield
        finally:
            lower = functools.partial(step.lower_traced, lower_with=options.lower_with)
            recorded += recorder.programs(lower)
            if calls is not None:
                _print_unreached(calls)


def _traced(calls: replica_calls.Calls, stack: list[tuple[str, int]], function: Hashable) -> None:
    """Ends the script once the functions of all its calls have been traced."""
    calls.note(stack, function)
    if calls.done():
        raise _Stop


def _print_unreached(calls: replica_calls.Calls) -> None:
    """Prints the calls of which no function was traced."""
    for call in calls.unreached():
        print(
            "tpudist run: the script ended before %s:%d ran a function on replicas, which is "
            "not compiled" % (call.path, call.first),
            file=sys.stderr,
        )


def _report(recorded: Any, slice_: slices.Slice, options: argparse.Namespace) -> Report | None:
    """Compiles a function and prints its report; returns it, None if it was not lowered."""
    print("\n%s  %s" % (recorded.name, recorded.location))
    try:
        if recorded.error is not None:
            raise recorded.error
        report = compile_command.compile_lowered(recorded.program, slice_, options)
        print(terminal.text(report), end="")
        return report
    except CompileError as error:
        gate.refused(error, options, sys.stdout)
        return None
