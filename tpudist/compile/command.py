"""What ``tpudist compile`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import slices
from tpudist.compile import arguments, compiler, fit, gate, loading, step, terminal, topologies
from tpudist.errors import CompileError

if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tpudist.compile.program import Program
    from tpudist.compile.report import Report


def run(options: argparse.Namespace) -> int:
    """Compiles the step that the command line names, and reports.

    Args:
      options: parsed ``target``, ``args``, ``topology``, ``replicas``,
        ``logical``, ``strategy``, ``era``, ``fit``, ``fast``, ``timeout``, ``lower_with``,
        ``hlo``, ``compare`` and those of ``gate.finish``; None where one was left out.

    Returns:
      0 if the step compiles and is within the limits, else 1.

    Raises:
      TpudistError: the command line does not fit the file or the slice.
    """
    if options.compare:
        return gate.compared(options.compare[0], options.compare[1], options.rtol)
    if not options.target:
        raise CompileError(
            "tpudist compile", "no FILE:FUNCTION is given", "path/to/train.py:step_fn; or --compare"
        )
    gate.check(options)
    slice_ = slices.find(options.topology)
    logical = options.logical or 1
    replicas = options.replicas or slice_.devices // logical
    topologies.check(slice_, replicas, logical)
    args, kwargs = arguments.parse(options.args or "")
    step.require_lowering(options.lower_with)
    compiler.require(slice_)
    with loading.loaded(options.target, options.era, "virtual:%d" % (replicas * logical)) as (
        module,
        fn,
    ):
        strategy = loading.strategy_of(module, options.strategy, replicas, logical)
        _check(strategy, options)
        step.check(strategy, options.topology)

        def compiled(batch: int) -> Report:
            """The report of a batch of a replica."""
            found, named = fit.scaled((args, kwargs), first, batch)
            program = step.lower_step(strategy, fn, found, named, options.lower_with)
            return _compiled(program, slice_, options)

        try:
            if options.fit:
                first = fit.batch_of(args, kwargs)
                found = fit.largest(first, compiled)
                print(fit.text(found, first))
                made = found.report
            else:
                first = 0
                made = compiled(first)
        except CompileError as error:
            return gate.refused(error, options)
    print(terminal.text(made), end="")
    return gate.finish([(options.target, made)], options)


def report(program: Program, slice_: slices.Slice, options: argparse.Namespace) -> Report:
    """Compiles a lowered step and shows the report.

    Args:
      program: a `program.Program`.
      slice_: a `slices.Slice`.
      options: parsed ``fast``, ``timeout`` and ``hlo``.

    Returns:
      The `report.Report`.
    """
    made = _compiled(program, slice_, options)
    print(terminal.text(made), end="")
    return made


def _compiled(program: Program, slice_: slices.Slice, options: argparse.Namespace) -> Report:
    with terminal.progress("compiling for %s" % slice_.name) as show:
        return compiler.compile_program(
            program,
            slice_,
            fast=options.fast,
            progress=show,
            timeout=options.timeout or compiler.TIMEOUT,
            hlo=options.hlo,
        )


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
