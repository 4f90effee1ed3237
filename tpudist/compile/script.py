"""``tpudist run --compile``: what a script's replicas run, compiled too."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from typing import TYPE_CHECKING

from tpudist import machine, slices
from tpudist.compile import compiler, step, terminal
from tpudist.errors import TpudistError

if TYPE_CHECKING:
    import argparse
    from typing import Any, Iterator


def run(options: argparse.Namespace) -> int:
    """Runs a script and compiles every replica function that it ran.

    Args:
      options: parsed ``script``, ``arguments``, ``era``, ``tpu``, ``compile``
        (the slice), ``fast`` and ``lower_with``. Without ``tpu`` and TPUDIST_TPU the script
        gets a virtual TPU of the slice's size.

    Returns:
      The script's exit code; if that is 0, 1 if a function does not compile,
      or if none ran.

    Raises:
      TopologyError: (a ValueError) there is no such slice.
      CompileError: (a RuntimeError) this TensorFlow lowers nothing, and no
        other one is to.
    """
    from tpudist.legacy import runner  # It asks TensorFlow for its version.

    slice_ = slices.find(options.compile)
    step.require_lowering(options.lower_with)
    tpu = options.tpu
    if tpu is None and not os.environ.get(machine.TPU):
        tpu = "virtual:%d" % slice_.devices
    recorded: list[Any] = []
    code = runner.run(
        options.script,
        options.arguments,
        options.era,
        tpu,
        around=_recording(recorded, options.lower_with),
    )
    print(
        "compiled for %s: %d replica function%s"
        % (slice_.name, len(recorded), "" if len(recorded) == 1 else "s")
    )
    compiles = [_report(each, slice_, options.fast) for each in recorded]
    if not recorded:
        print(
            "tpudist run: the script ran no function on replicas, so there was nothing to compile",
            file=sys.stderr,
        )
    return code or (0 if compiles and all(compiles) else 1)


@contextlib.contextmanager
def _recording(recorded: list[Any], lower_with: str | None) -> Iterator[None]:
    """Adds what the block ran to a list of ``recording.Recorded``."""
    from tpudist.compile.lowering import recording  # It imports TensorFlow.

    with recording.Recorder() as recorder:
        yield
    recorded += recorder.programs(functools.partial(step.lower_traced, lower_with=lower_with))


def _report(recorded: Any, slice_: slices.Slice, fast: bool) -> bool:
    """Prints what became of a function; returns whether it compiles."""
    print("\n%s  %s" % (recorded.name, recorded.location))
    try:
        if recorded.error is not None:
            raise recorded.error
        with terminal.progress("compiling for %s" % slice_.name) as show:
            made = compiler.compile_program(recorded.program, slice_, fast=fast, progress=show)
    except TpudistError as error:
        print("does not compile: %s" % error)
        return False
    print(terminal.text(made), end="")
    return made.ok
