"""Compiles a step that the command line names, and prints the report: ``tpudist compile``."""

from __future__ import annotations

import argparse
import contextlib
import sys
from types import ModuleType
from typing import Any, Callable, Iterator

from tpudist import console
from tpudist.errors import CompileError
from tpudist.legacy import start
from tpudist.surfaces import slices
from tpudist.tools.compile import arguments, step
from tpudist.tools.compile.command import gate
from tpudist.tools.compile.compiler import compilation, libtpu
from tpudist.tools.compile.pages import terminal
from tpudist.tools.compile.program import Program
from tpudist.tools.compile.report import Report


def run(options: argparse.Namespace) -> int:
    """Compiles the step that the command line names, and prints the report.

    Args:
      options: those of the verb; None where one was left out.

    Returns:
      0 if the step compiles and is within its limits, else 1.

    Raises:
      TpudistError: the command line does not fit the file or the slice.
    """
    parse_target(options.target)
    gate.check(options)
    slice_ = slices.find(options.topology)
    inputs = arguments.parse(options.args or "")
    step.require()
    libtpu.find()
    with executed(options.target, options.era, "virtual:%d" % slice_.devices) as (module, fn):
        strategy = strategy_of(module)
        step.check(strategy, slice_)
        try:
            program = step.lower_step(strategy, fn, *inputs)
        except CompileError as error:
            print("does not compile: %s" % error, file=sys.stderr)
            return 1
    report = compile_lowered(program, slice_, options)
    print(terminal.text(report), end="")
    return gate.finish([(options.target, report)], options)


def compile_lowered(program: Program, slice_: slices.Slice, options: argparse.Namespace) -> Report:
    """Compiles a lowered step as the options say, and shows the seconds that it takes."""
    with console.working("compiling for %s" % slice_.name):
        return compilation.compile_program(
            program, slice_, fast=options.fast, timeout=options.timeout or compilation.TIMEOUT
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
    with runner.of_era(script, (), era, tpu) as (code, _):
        module = runner.load(code, script.path)
        yield module, _function(module, script.path, name)


def parse_target(target: str | None) -> tuple[start.Script, str]:
    """Returns (the file, the function's name) of ``"path/to/train.py:step_fn"``.

    Raises:
      CompileError: the text names no file and function.
      ScriptError: there is no such file.
    """
    path, separator, name = (target or "").rpartition(":")
    if not separator or not path.endswith(".py"):
        raise CompileError(
            "tpudist compile %s" % (target or ""),
            "it is no file and function",
            "path/to/train.py:step_fn",
        )
    return start.Script(path), name


def _function(module: ModuleType, path: str, name: str) -> Callable[..., Any]:
    member: Any = module
    for part in name.split("."):
        member = getattr(member, part, None)
    if callable(member):
        return member
    raise CompileError(
        "%s of %s" % (name, path),
        "the file defines no such function, unless inside of another one",
        "a function of the file; or tpudist run --compile, which compiles every replica "
        "function that the script runs",
    )


def strategy_of(module: ModuleType) -> Any:
    """Returns the strategy of a user's module, or a new one on the virtual TPU of TPUDIST_TPU.

    Raises:
      CompileError: the module has several.
    """
    from tpudist import v2_2
    from tpudist.strategy import base_classes  # It imports TensorFlow.

    kinds = (base_classes.TPUStrategyBase, base_classes.TPUStrategyBaseV1)
    found = {name: each for name, each in vars(module).items() if isinstance(each, kinds)}
    distinct = {id(each): each for each in found.values()}
    if len(distinct) > 1:
        raise CompileError(
            "several strategies: %s" % ", ".join(sorted(found)),
            "the step is compiled for one",
            "one strategy in the file; or tpudist run --compile, which compiles each replica "
            "function for its own",
        )
    for strategy in distinct.values():
        return strategy
    return v2_2.TPUStrategy(v2_2.TPUClusterResolver("virtual"))
