"""Runs a script and compiles each function that it runs on replicas: ``tpudist run --compile``.

With ``--trace-only`` the calls that run such functions are found by reading the script's
source, and the script ends as soon as the functions of all of them have been traced.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import os
import re
import sys
from typing import Any, Hashable, Iterable, Iterator, NamedTuple

from tpudist import machine
from tpudist.errors import CompileError, TopologyError
from tpudist.legacy import start
from tpudist.surfaces import slices
from tpudist.surfaces.eras import names, program
from tpudist.tools.compile import step
from tpudist.tools.compile.command import compile_command, gate
from tpudist.tools.compile.compiler import compilation
from tpudist.tools.compile.pages import terminal
from tpudist.tools.compile.report import Report

#: Methods of strategies that run a function on replicas; a `run` may be of something else.
_STRATEGY_METHODS = (
    "experimental_run_v2",
    "experimental_run",
    "call_for_each_tower",
    "call_for_each_replica",
)

#: Methods of models and estimators that do.
_MODEL_METHODS = (
    *("fit", "fit_generator", "evaluate", "predict", "train", "train_and_evaluate"),
    *("train_on_batch", "test_on_batch", "predict_on_batch"),
)

#: Names of objects that have a `run` and are no strategies.
_NO_STRATEGY = re.compile("sess|subprocess|asyncio|app$|estimator", re.IGNORECASE)

_Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_Loop = (ast.For, ast.AsyncFor, ast.comprehension)


class _Stop(BaseException):
    """Ends a script before its end; no Exception, so that the script does not catch it."""


def run(options: argparse.Namespace) -> int:
    """Runs a script, and compiles every replica function that it ran.

    Without ``tpu`` and TPUDIST_TPU the script gets a virtual TPU of the slice's size.

    Args:
      options: those of ``tpudist run``; ``compile`` names the slice.

    Returns:
      The script's exit code; if that is 0, 1 if a function does not compile or is not
      within the limits, or if none ran.

    Raises:
      TopologyError: there is no such slice, or a strategy of the script does not fit it: the
        script ends where it first runs a function.
      CompileError: this TensorFlow cannot lower a step, and no other one is named; or libtpu
        cannot be used.
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

    If the functions are traced only, and not run, `path` is that of the script, else None.
    """
    from tpudist.tools.compile.lowering import recording  # It imports TensorFlow.

    def check(strategy: Any) -> None:
        try:
            step.check(strategy, slice_.name)
        except TopologyError as error:
            raise _Stop(error) from error

    calls = Calls(path) if path else None
    traced = functools.partial(_traced, calls) if calls else None
    with recording.Recorder(check, traced) as recorder:
        try:
            yield
        finally:
            lower = functools.partial(step.lower_traced, lower_with=options.lower_with)
            recorded += recorder.programs(lower)
            if calls is not None:
                _print_unreached(calls)


def _traced(calls: Calls, stack: list[tuple[str, int]], function: Hashable) -> None:
    """Ends the script once the functions of all its calls have been traced."""
    calls.note(stack, function)
    if calls.done():
        raise _Stop


def _print_unreached(calls: Calls) -> None:
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


class Call(NamedTuple):
    """A call that runs replica functions."""

    path: str
    # lines, counted from 1
    first: int
    last: int
    # how many it runs; 0 if unknown, because the function is a parameter of the code that calls
    functions: int


class Calls:
    """The calls of a script and its own modules, and the functions that each has run."""

    def __init__(self, script: str) -> None:
        self._functions: dict[Call, set[Hashable]] = {}
        walk = program.Walk(script)
        self._unread = walk.faults
        for path, tree in walk.files():
            try:
                self._functions.update((call, set()) for call in _calls(tree, path))
            except Exception as error:  # then the script runs to its own end
                self._unread.append((path, error))

    def note(self, stack: Iterable[tuple[str, int]], function: Hashable) -> None:
        """Notes that a function, known by its key, was run below the (file, line)s of a stack."""
        lines = {(os.path.realpath(file), line) for file, line in stack}
        for call, functions in self._functions.items():
            if any((call.path, line) in lines for line in range(call.first, call.last + 1)):
                functions.add(function)

    def done(self) -> bool:
        """Whether every call has run all its functions."""
        return bool(self._functions) and not self._unread and not self.unfinished()

    def unfinished(self) -> list[Call]:
        """Returns the calls that have functions left to run, or may have."""
        return [
            call
            for call, functions in self._functions.items()
            if not call.functions or len(functions) < call.functions
        ]

    def unreached(self) -> list[Call]:
        """Returns the calls that have run no function."""
        return [call for call, functions in self._functions.items() if not functions]


def _calls(tree: ast.AST, path: str) -> Iterator[Call]:
    path = os.path.realpath(path)
    for node, parameters in _with_parameters(tree, frozenset()):
        count = _function_count(node, parameters)
        if count is not None:
            lines = [each.lineno for each in ast.walk(node) if hasattr(each, "lineno")]
            yield Call(path, node.lineno, max(lines), count)


def _with_parameters(
    tree: ast.AST, parameters: frozenset[str]
) -> Iterator[tuple[ast.Call, frozenset[str]]]:
    """Yields each call with the names around it that may be any function.

    These are the parameters of functions, and what loops and comprehensions go through.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            yield node, parameters
        inner = parameters
        if isinstance(node, _Function):
            inner |= {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        for loop in getattr(node, "generators", [node]):
            if isinstance(loop, _Loop):
                inner |= {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
        yield from _with_parameters(node, inner)


def _function_count(call: ast.Call, parameters: frozenset[str]) -> int | None:
    """Returns how many functions a call runs on replicas; 0 if unknown, None if it runs none."""
    if not isinstance(call.func, ast.Attribute):
        return None
    name, receiver = call.func.attr, _last_word(call.func.value)
    if name in _MODEL_METHODS:
        validates = any((each.arg or "").startswith("validation_") for each in call.keywords)
        return 2 if name == "train_and_evaluate" or validates else 1
    is_run = name == "run" and _may_be_strategy(call, receiver)
    if name not in _STRATEGY_METHODS and not is_run:
        return None
    function = _function_argument(call)
    return 0 if isinstance(function, ast.Name) and function.id in parameters else 1


def _may_be_strategy(call: ast.Call, receiver: str) -> bool:
    if names.is_called_like_a_strategy(receiver):
        return True
    function = _function_argument(call)
    return isinstance(function, (ast.Name, ast.Attribute, ast.Lambda)) and not (
        _NO_STRATEGY.search(receiver)
    )


def _function_argument(call: ast.Call) -> ast.expr | None:
    by_name = (each.value for each in call.keywords if each.arg == "fn")
    return call.args[0] if call.args else next(by_name, None)


def _last_word(node: ast.AST) -> str:
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""
