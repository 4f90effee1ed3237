"""Compiles a step that the command line names, and prints the report: ``tpudist compile``."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from tpudist.errors import CompileError
from tpudist.surfaces import slices
from tpudist.tools.compile import arguments, step
from tpudist.tools.compile.cache import file_reads, runs
from tpudist.tools.compile.command import fit, gate, user_file
from tpudist.tools.compile.compiler import compilation, topologies
from tpudist.tools.compile.pages import terminal

if TYPE_CHECKING:
    import argparse
    from typing import Any, Callable, ContextManager, Iterator

    from tpudist.tools.compile.program import Program
    from tpudist.tools.compile.report import Report


#: The last line of a report that an earlier run printed.
_KEPT = "kept      since %s: nothing that was read then has changed (--no-cache compiles anew)"


class _NotLowered(Exception):
    """A step could not be lowered; `error` says why."""

    def __init__(self, error: CompileError) -> None:
        Exception.__init__(self, str(error))
        self.error = error


def run(options: argparse.Namespace) -> int:
    """Compiles the step that the command line names, and prints the report.

    Args:
      options: parsed ``target``, ``args``, ``topology``, ``replicas``,
        ``logical``, ``strategy``, ``era``, ``fit``, ``fast``, ``timeout``, ``lower_with``,
        ``hlo``, ``compare``, ``no_cache`` and those of ``gate.finish``; None where one was
        left out.

    Returns:
      0 if the step compiles and is within its limits, else 1.

    Raises:
      TpudistError: the command line does not fit the file or the slice.
    """
    if options.compare:
        return gate.compare_files(options.compare[0], options.compare[1], options.rtol)
    if not options.target:
        raise CompileError(
            "tpudist compile", "no FILE:FUNCTION is given", "path/to/train.py:step_fn; or --compare"
        )
    user_file.parse_target(options.target)
    gate.check(options)
    earlier = runs.find(options)
    if earlier is not None:
        for _, each in earlier.reports:
            print(earlier.text + terminal.text(each), end="")
        print(_KEPT % earlier.when)
        return gate.finish(earlier.reports, options)
    with runs.recorded(options) as recording:
        try:
            heading, report = _report(options)
        except _NotLowered as failed:
            return gate.refused(failed.error, options)
        print(heading + terminal.text(report), end="")
        unknown = recording.store(heading, [(options.target, report)])
        if unknown:
            print("not kept  %s: the next run traces again" % unknown)
    return gate.finish([(options.target, report)], options)


def _report(options: argparse.Namespace) -> tuple[str, Report]:
    """Returns (the text to print before the report, the report) of the step."""
    slice_ = slices.find(options.topology)
    logical = options.logical or 1
    topologies.check(slice_, options.replicas or slice_.devices // logical, logical)
    inputs = arguments.parse(options.args or "")
    step.require_lowering(options.lower_with)
    with file_reads.unrecorded():
        compilation.require(slice_)
    if options.fit:
        first = fit.batch_of(*inputs)
    with _step_compiler(options, slice_) as compile_inputs:
        if not options.fit:
            return "", compile_inputs(inputs)
        try:
            best = fit.largest(
                first, lambda batch: compile_inputs(fit.with_batch(inputs, first, batch))
            )
        except CompileError as error:
            raise _NotLowered(error) from error
    lines = [fit.text(best)]
    if first > best.batch:
        lines += [
            _variant_text(each, options, slice_, inputs, (best.batch, first))
            for each in fit.VARIANTS
        ]
    return "\n".join(lines) + "\n", best.report


def _variant_text(
    variant: fit.Variant,
    options: argparse.Namespace,
    slice_: slices.Slice,
    inputs: Any,
    batches: tuple[int, int],
) -> str:
    """Returns the text on a variant: the largest batch that fits with it, found by compiling.

    Args:
      variant: a `fit.Variant`.
      options, slice_, inputs: of the command.
      batches: the largest that fits without the variant, and the one that was asked for.
    """
    low, high = batches
    try:
        with _step_compiler(options, slice_, variant.context) as compile_inputs:
            best = fit.largest_between(
                low, high, lambda batch: compile_inputs(fit.with_batch(inputs, high, batch))
            )
    except Exception as error:  # the user's code, changed, may raise anything
        return fit.failed_variant_text(variant, error)
    return fit.variant_text(variant, best, low)


@contextlib.contextmanager
def _step_compiler(
    options: argparse.Namespace,
    slice_: slices.Slice,
    context: Callable[[], ContextManager[Any]] | None = None,
) -> Iterator[Callable[[Any], Report]]:
    """Executes the file; yields a function that compiles the step for some inputs."""
    logical = options.logical or 1
    replicas = options.replicas or slice_.devices // logical
    tpu = "virtual:%d" % (replicas * logical)
    with user_file.executed(options.target, options.era, tpu, context) as (module, fn):
        strategy = user_file.strategy_of(module, options.strategy, replicas, logical)
        _check(strategy, options)
        step.check(strategy, options.topology)

        def compile_inputs(inputs: Any) -> Report:
            try:
                program = step.lower_step(strategy, fn, inputs[0], inputs[1], options.lower_with)
                return compile_lowered(program, slice_, options)
            except CompileError as error:
                raise _NotLowered(error) from error

        yield compile_inputs


def compile_lowered(program: Program, slice_: slices.Slice, options: argparse.Namespace) -> Report:
    """Compiles a lowered step, and shows the seconds that it takes.

    Args:
      program: a `program.Program`.
      slice_: a `slices.Slice`.
      options: parsed ``fast``, ``timeout``, ``hlo`` and ``no_cache``.

    Returns:
      The `report.Report`.
    """
    with file_reads.unrecorded(), terminal.progress("compiling for %s" % slice_.name) as show:
        return compilation.compile_program(
            program,
            slice_,
            fast=options.fast,
            progress=show,
            timeout=options.timeout or compilation.TIMEOUT,
            hlo=options.hlo,
            cache=not options.no_cache,
            explain=not getattr(options, "fit", False),
        )


def _check(strategy: Any, options: argparse.Namespace) -> None:
    """Refuses a strategy that has other numbers than the command line."""
    from tpudist.core import logical_devices  # It imports TensorFlow.

    actual = (strategy.num_replicas_in_sync, logical_devices.logical_devices(strategy))
    wanted = (options.replicas or actual[0], options.logical or actual[1])
    if wanted != actual:
        raise CompileError(
            "--replicas %d --logical %d" % wanted,
            "the file's strategy has %d replica(s) of %d logical device(s)" % actual,
            "--replicas %d --logical %d; or a DeviceAssignment of the wanted "
            "numbers in the file" % actual,
        )
