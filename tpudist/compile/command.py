"""What ``tpudist compile`` does."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from tpudist import files, slices
from tpudist.compile import arguments, compiler, loading, page, step, terminal, topologies
from tpudist.errors import CompileError

if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tpudist.compile.program import Program


def run(options: argparse.Namespace) -> int:
    """Compiles the step that the command line names, and reports.

    Args:
      options: parsed ``target``, ``args``, ``topology``, ``replicas``,
        ``logical``, ``strategy``, ``era``, ``fast``, ``timeout``, ``json``,
        ``html`` and ``lower_with``; None where one was left out.

    Returns:
      0 if the step compiles, else 1.

    Raises:
      TpudistError: the command line does not fit the file or the slice.
    """
    slice_ = slices.find(options.topology)
    logical = options.logical or 1
    replicas = options.replicas or slice_.devices // logical
    topologies.check(slice_, replicas, logical)
    args, kwargs = arguments.parse(options.args or "")
    step.require_lowering(options.lower_with)
    with loading.loaded(options.target, options.era, "virtual:%d" % (replicas * logical)) as (
        module,
        fn,
    ):
        strategy = loading.strategy_of(module, options.strategy, replicas, logical)
        _check(strategy, options)
        step.check(strategy, options.topology)
        try:
            program = step.lower_step(strategy, fn, args, kwargs, options.lower_with)
        except CompileError as error:
            print("does not compile: %s" % error, file=sys.stderr)
            return 1
    return report(program, slice_, options)


def report(program: Program, slice_: slices.Slice, options: argparse.Namespace) -> int:
    """Compiles a lowered step and writes what the options ask for.

    Args:
      program: a `program.Program`.
      slice_: a `slices.Slice`.
      options: parsed ``fast``, ``timeout``, ``json`` and ``html``.

    Returns:
      0 if it compiles, else 1.
    """
    with terminal.progress("compiling for %s" % slice_.name) as show:
        made = compiler.compile_program(
            program,
            slice_,
            fast=options.fast,
            progress=show,
            timeout=options.timeout or compiler.TIMEOUT,
        )
    print(terminal.text(made), end="")
    if options.json:
        files.write(options.json, json.dumps(made.to_json(), indent=1) + "\n")
    if options.html:
        files.write(options.html, page.html(made))
    return 0 if made.ok else 1


def _check(strategy: Any, options: argparse.Namespace) -> None:
    """Refuses a strategy that is not what the command line says."""
    from tpudist.core import logical_devices  # It imports TensorFlow.

    found = (strategy.num_replicas_in_sync, logical_devices.logical_devices(strategy))
    wanted = (options.replicas or found[0], options.logical or found[1])
    if wanted != found:
        raise CompileError(
            "--replicas %d --logical %d" % wanted,
            "the file's strategy has %d replica(s) of %d logical device(s)" % found,
            "--replicas %d --logical %d; or a DeviceAssignment of the wanted "
            "numbers in the file" % found,
        )
