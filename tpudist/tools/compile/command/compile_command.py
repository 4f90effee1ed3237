"""Compiles a step that the command line names, and prints the report: ``tpudist compile``."""

from __future__ import annotations

import argparse
import contextlib
import os
import traceback
from types import CodeType, ModuleType
from typing import Any, Callable, Iterator

from tpudist import console
from tpudist.errors import CompileError, TpudistError
from tpudist.legacy import start
from tpudist.surfaces import slices
from tpudist.tools.compile import arguments, step
from tpudist.tools.compile.command import fit, gate
from tpudist.tools.compile.compiler import compilation
from tpudist.tools.compile.pages import terminal
from tpudist.tools.compile.program import Program
from tpudist.tools.compile.report import Report


class _NotLowered(Exception):
    """A step could not be lowered; `error` says why."""

    def __init__(self, error: CompileError) -> None:
        Exception.__init__(self, str(error))
        self.error = error


def run(options: argparse.Namespace) -> int:
    """Compiles the step that the command line names, and prints the report.

    Args:
      options: those of the verb; None where one was left out.

    Returns:
      0 if the step compiles and is within its limits, else 1.

    Raises:
      TpudistError: the command line does not fit the file or the slice.
    """
    if not options.target:
        raise CompileError(
            "tpudist compile", "no FILE:FUNCTION is given", "path/to/train.py:step_fn"
        )
    parse_target(options.target)
    gate.check(options)
    try:
        heading, report = _report(options)
    except _NotLowered as failed:
        return gate.refused(failed.error, options)
    print(heading + terminal.text(report), end="")
    return gate.finish([(options.target, report)], options)


def _report(options: argparse.Namespace) -> tuple[str, Report]:
    """Returns (the text to print before the report, the report) of the step."""
    slice_ = slices.find(options.topology)
    logical = options.logical or 1
    compilation.check_fits(slice_, options.replicas or slice_.devices // logical, logical)
    inputs = arguments.parse(options.args or "")
    step.require_lowering()
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
    return fit.text(best) + "\n", best.report


@contextlib.contextmanager
def _step_compiler(
    options: argparse.Namespace, slice_: slices.Slice
) -> Iterator[Callable[[Any], Report]]:
    """Executes the file; yields a function that compiles the step for some inputs."""
    logical = options.logical or 1
    replicas = options.replicas or slice_.devices // logical
    tpu = "virtual:%d" % (replicas * logical)
    with executed(options.target, options.era, tpu) as (module, fn):
        strategy = strategy_of(module, options.strategy, replicas, logical)
        _check(strategy, options)
        step.check(strategy, options.topology)

        def compile_inputs(inputs: Any) -> Report:
            try:
                program = step.lower_step(strategy, fn, inputs[0], inputs[1])
                return compile_lowered(program, slice_, options)
            except CompileError as error:
                raise _NotLowered(error) from error

        yield compile_inputs


def compile_lowered(program: Program, slice_: slices.Slice, options: argparse.Namespace) -> Report:
    """Compiles a lowered step as the options say, and shows the seconds that it takes."""
    with console.working("compiling for %s" % slice_.name):
        return compilation.compile_program(
            program,
            slice_,
            fast=options.fast,
            timeout=options.timeout or compilation.TIMEOUT,
            hlo=options.hlo,
        )


def _check(strategy: Any, options: argparse.Namespace) -> None:
    """Refuses a strategy that has other numbers than the command line."""
    from tpudist.adapter import logical_devices  # It imports TensorFlow.

    actual = (strategy.num_replicas_in_sync, logical_devices.logical_devices(strategy))
    wanted = (options.replicas or actual[0], options.logical or actual[1])
    if wanted != actual:
        raise CompileError(
            "--replicas %d --logical %d" % wanted,
            "the file's strategy has %d replica(s) of %d logical device(s)" % actual,
            "--replicas %d --logical %d; or a DeviceAssignment of the wanted "
            "numbers in the file" % actual,
        )


@contextlib.contextmanager
def executed(
    target: str, era: str | None = None, tpu: str | None = None
) -> Iterator[tuple[ModuleType, Callable[..., Any]]]:
    """Executes a file as a module of its era; all that this changes is undone at the end.

    Args:
      target: ``"path/to/train.py:step_fn"``; the function may be one of an
        object of the module (``trainer.step``).
      era: "contrib", "2.0" or "2.2"; None finds it by reading the file.
      tpu: the value of TPUDIST_TPU for the file.

    Yields:
      ``(module, function)``.

    Raises:
      CompileError: there is no such function in it.
      ScriptError: there is no such file.
    """
    from tpudist.legacy import runner  # It asks TensorFlow for its version.

    script, name = parse_target(target)
    with contextlib.ExitStack() as entered:
        code, _ = entered.enter_context(runner.of_era(script, (), era, tpu))
        module = _execute(code, script.path)
        yield module, _function(module, script.path, name)


def parse_target(target: str) -> tuple[start.Script, str]:
    """Returns (the file, the function's name) of ``"path/to/train.py:step_fn"``.

    Raises:
      CompileError: the text names no file and function.
      ScriptError: there is no such file.
    """
    path, separator, name = target.rpartition(":")
    if not separator or not path.endswith(".py"):
        raise CompileError("%r" % target, "it is no file and function", "path/to/train.py:step_fn")
    return start.Script(path), name


def _execute(code: CodeType, path: str) -> ModuleType:
    from tpudist.legacy import runner

    try:
        return runner.load(code, path)
    except TpudistError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [each for each in frames if each.filename == os.path.abspath(path)]
        place = "%s:%d: " % (path, own[-1].lineno or 0) if own else ""
        raise CompileError(
            "%s%s: %s" % (place, type(error).__name__, error),
            "the file is executed as a module, before its step is traced, and that failed",
            "a file that can be imported; TPUDIST_TRACEBACK=1 shows the whole traceback",
        ) from error


def _function(module: ModuleType, path: str, name: str) -> Callable[..., Any]:
    member: Any = module
    for part in name.split("."):
        member = None if member is None else getattr(member, part, None)
    if callable(member):
        return member
    raise CompileError(
        "%s of %s" % (name, path),
        "the file defines no such function, unless inside of another one",
        "one of %s; or tpudist run --compile, which compiles every replica "
        "function that the script runs" % _function_names(module),
    )


def _function_names(module: ModuleType) -> str:
    """Returns the names of the functions that a module defines, for a message."""
    names = sorted(
        name
        for name, each in vars(module).items()
        if callable(each)
        and not isinstance(each, type)
        and getattr(each, "__module__", None) == module.__name__
    )
    return ", ".join(names) or "no functions at all"


def strategy_of(module: ModuleType, name: str | None, replicas: int, logical: int) -> Any:
    """Returns the strategy of a user's module that the step is compiled for.

    Args:
      name: of the strategy in it, or None for its only one.
      replicas, logical: of a new strategy on the virtual TPU if the module has none.

    Raises:
      CompileError: there are several, or none of that name.
    """
    from tpudist.strategy import base_classes  # It imports TensorFlow.

    kinds = (base_classes.TPUStrategyBase, base_classes.TPUStrategyBaseV1)
    strategies = {each: value for each, value in vars(module).items() if isinstance(value, kinds)}
    names = sorted(strategies)
    if name is not None and name not in strategies:
        raise CompileError(
            "--strategy %s" % name,
            "the file has no TPUStrategy of that name",
            "one of %s" % (", ".join(names) or "none: leave it out"),
        )
    if name is None and len(set(map(id, strategies.values()))) > 1:
        raise CompileError(
            "several strategies: %s" % ", ".join(names),
            "the step is compiled for one",
            "--strategy %s" % names[0],
        )
    if strategies:
        return strategies[name or names[0]]
    return _new_strategy(replicas, logical)


def _new_strategy(replicas: int, logical: int) -> Any:
    from tpudist.v2_2 import tensorflow as tf

    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(
        tpu="virtual:%d" % (replicas * logical)
    )
    topology = tf.tpu.experimental.initialize_tpu_system(resolver)
    cores = topology.device_coordinates.reshape([replicas, logical, -1])
    return tf.distribute.experimental.TPUStrategy(
        resolver, tf.tpu.experimental.DeviceAssignment(topology, cores)
    )
