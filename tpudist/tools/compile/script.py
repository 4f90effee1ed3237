"""``tpudist run --compile``: what a script's replicas run, compiled too."""

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
from tpudist.tools.compile import command, compiler, gate, step, step_calls

if TYPE_CHECKING:
    import argparse
    from typing import Any, Hashable, Iterator

    from tpudist.tools.compile.report import Report


class _Stopped(BaseException):
    """Ends a script of which nothing but the tracing is wanted; no ``except`` of its is meant."""


def run(options: argparse.Namespace) -> int:
    """Runs a script and compiles every replica function that it ran.

    Args:
      options: parsed ``script``, ``arguments``, ``era``, ``keras``, ``tpu``, ``compile`` (the
        slice), ``fast``, ``timeout``, ``hlo``, ``lower_with``, ``trace_only`` and those
        of ``gate.finish``. Without ``tpu`` and TPUDIST_TPU the script gets a virtual TPU
        of the slice's size.

    Returns:
      The script's exit code; if that is 0, 1 if a function does not compile, is not
      within the limits, or if none ran.

    Raises:
      TopologyError: (a ValueError) there is no such slice, or a strategy of the script
        does not fit it: the script ends where it first runs a function.
      CompileError: (a RuntimeError) this TensorFlow lowers nothing, and no
        other one is to; or libtpu cannot be used.
    """
    gate.check(options)
    slice_ = slices.find(options.compile)
    path = (start.Module(options.module) if options.module else start.Script(options.script)).path
    from tpudist.legacy import runner  # It asks TensorFlow for its version.

    step.require_lowering(options.lower_with)
    compiler.require(slice_)
    tpu = options.tpu
    if tpu is None and not os.environ.get(machine.TPU):
        tpu = "virtual:%d" % slice_.devices
    recorded: list[Any] = []
    around = _recording(recorded, slice_, path if options.trace_only else None, options)
    try:
        code = runner.of_options(options, tpu, around)
    except _Stopped as stopped:
        if stopped.args:
            raise stopped.args[0] from None
        code = 0
    count = len(recorded)
    print("compiled for %s: %d replica function%s" % (slice_.name, count, "s" * (count != 1)))
    made = [(each.name, _report(each, slice_, options)) for each in recorded]
    if not recorded:
        print(
            "tpudist run: the script ran no function on replicas, so there was nothing to compile",
            file=sys.stderr,
        )
    judged = gate.finish([(name, each) for name, each in made if each is not None], options)
    return code or (1 if not made or None in [each for _, each in made] else judged)


@contextlib.contextmanager
def _recording(
    recorded: list[Any], slice_: slices.Slice, path: str | None, options: argparse.Namespace
) -> Iterator[None]:
    """Adds what the block ran to a list of ``recording.Recorded``."""
    from tpudist.tools.compile.lowering import recording  # It imports TensorFlow.

    def check(strategy: Any) -> None:
        try:
            step.check(strategy, slice_.name)
        except TopologyError as error:
            raise _Stopped(error) from error

    calls = step_calls.Calls(path) if path else None
    noted = calls and functools.partial(_noted, calls)
    with recording.Recorder(check, noted) as recorder:
        try:
            yield
        finally:
            lower = functools.partial(step.lower_traced, lower_with=options.lower_with)
            recorded += recorder.programs(lower)
            if calls is not None:
                _tell(calls)


def _noted(calls: step_calls.Calls, places: list[tuple[str, int]], function: Hashable) -> None:
    """Ends the script once every call of it that runs replicas has been traced."""
    calls.note(places, function)
    if calls.done():
        raise _Stopped


def _tell(calls: step_calls.Calls) -> None:
    """Says of which calls nothing was traced, if any."""
    for call in calls.unreached():
        print(
            "tpudist run: the script ended before %s:%d ran a function on replicas, which is "
            "not compiled" % (call.path, call.first),
            file=sys.stderr,
        )


def _report(recorded: Any, slice_: slices.Slice, options: argparse.Namespace) -> Report | None:
    """Prints what became of a function; returns its report, None if there is no program."""
    print("\n%s  %s" % (recorded.name, recorded.location))
    try:
        if recorded.error is not None:
            raise recorded.error
        return command.report(recorded.program, slice_, options)
    except CompileError as error:
        gate.refused(error, options, sys.stdout)
        return None
