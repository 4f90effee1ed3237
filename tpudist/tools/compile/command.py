"""What ``tpudist compile`` does."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from tpudist.errors import CompileError
from tpudist.surfaces import slices
from tpudist.tools.compile import (
    arguments,
    compiler,
    fit,
    gate,
    kept_runs,
    loading,
    readings,
    step,
    terminal,
    topologies,
    variants,
)

if TYPE_CHECKING:
    import argparse
    from typing import Any, Callable, ContextManager, Iterator

    from tpudist.tools.compile.program import Program
    from tpudist.tools.compile.report import Report


#: Said of a report of a run before.
_KEPT = "kept      since %s: nothing that was read then has changed (--no-cache compiles anew)"


class _NoProgram(Exception):
    """A step that is no program; `error` says why."""

    def __init__(self, error: CompileError) -> None:
        Exception.__init__(self, str(error))
        self.error = error


def run(options: argparse.Namespace) -> int:
    """Compiles the step that the command line names, and reports.

    Args:
      options: parsed ``target``, ``args``, ``topology``, ``replicas``,
        ``logical``, ``strategy``, ``era``, ``fit``, ``fast``, ``timeout``, ``lower_with``,
        ``hlo``, ``compare``, ``no_cache`` and those of ``gate.finish``; None where one was
        left out.

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
    loading.named(options.target)
    gate.check(options)
    kept = kept_runs.find(options)
    if kept is not None:
        for _, each in kept.reports:
            print(kept.said + terminal.text(each), end="")
        print(_KEPT % kept.when)
        return gate.finish(kept.reports, options)
    with kept_runs.watched(options) as watch:
        try:
            said, made = _found(options)
        except _NoProgram as refused:
            return gate.refused(refused.error, options)
        print(said + terminal.text(made), end="")
        unknown = watch.keep(said, [(options.target, made)])
        if unknown:
            print("not kept  %s: the next run traces again" % unknown)
    return gate.finish([(options.target, made)], options)


def _found(options: argparse.Namespace) -> tuple[str, Report]:
    """(what is said before the report, the report) of the step."""
    slice_ = slices.find(options.topology)
    logical = options.logical or 1
    topologies.check(slice_, options.replicas or slice_.devices // logical, logical)
    given = arguments.parse(options.args or "")
    step.require_lowering(options.lower_with)
    with readings.unnoted():
        compiler.require(slice_)
    if options.fit:
        first = fit.batch_of(*given)
    with _step(options, slice_) as compiled:
        if not options.fit:
            return "", compiled(given)
        try:
            found = fit.largest(first, lambda batch: compiled(fit.scaled(given, first, batch)))
        except CompileError as error:
            raise _NoProgram(error) from error
    said = [fit.text(found)]
    if first > found.batch:
        for each in variants.ALL:
            said.append(_tried(each, options, slice_, given, (found.batch, first)))
    return "\n".join(said) + "\n", found.report


def _tried(
    variant: variants.Variant,
    options: argparse.Namespace,
    slice_: slices.Slice,
    given: Any,
    batches: tuple[int, int],
) -> str:
    """What a variant of the program does for a batch that does not fit, found by compiling."""
    first = batches[1]
    try:
        with _step(options, slice_, variant.around) as compiled:
            found = fit.between(*batches, lambda batch: compiled(fit.scaled(given, first, batch)))
    except Exception as error:  # the user's code, changed, ends in any way it likes
        return variants.failed(variant, error)
    return variants.text(variant, found, batches)


@contextlib.contextmanager
def _step(
    options: argparse.Namespace,
    slice_: slices.Slice,
    around: Callable[[], ContextManager[Any]] | None = None,
) -> Iterator[Callable[[Any], Report]]:
    """Executes the file; yields what gives the report of the step for some arguments."""
    logical = options.logical or 1
    replicas = options.replicas or slice_.devices // logical
    tpu = "virtual:%d" % (replicas * logical)
    with loading.loaded(options.target, options.era, tpu, around) as (module, fn):
        strategy = loading.strategy_of(module, options.strategy, replicas, logical)
        _check(strategy, options)
        step.check(strategy, options.topology)

        def compiled(given: Any) -> Report:
            try:
                program = step.lower_step(strategy, fn, given[0], given[1], options.lower_with)
                return _compiled(program, slice_, options)
            except CompileError as error:
                raise _NoProgram(error) from error

        yield compiled


def report(program: Program, slice_: slices.Slice, options: argparse.Namespace) -> Report:
    """Compiles a lowered step and shows the report.

    Args:
      program: a `program.Program`.
      slice_: a `slices.Slice`.
      options: parsed ``fast``, ``timeout``, ``hlo`` and ``no_cache``.

    Returns:
      The `report.Report`.
    """
    made = _compiled(program, slice_, options)
    print(terminal.text(made), end="")
    return made


def _compiled(program: Program, slice_: slices.Slice, options: argparse.Namespace) -> Report:
    with readings.unnoted(), terminal.progress("compiling for %s" % slice_.name) as show:
        return compiler.compile_program(
            program,
            slice_,
            fast=options.fast,
            progress=show,
            timeout=options.timeout or compiler.TIMEOUT,
            hlo=options.hlo,
            cache=not options.no_cache,
            explain=not getattr(options, "fit", False),
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
