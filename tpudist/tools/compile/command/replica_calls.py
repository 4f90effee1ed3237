"""Finds the calls of a program that run functions on replicas, by reading its source.

With ``--trace-only`` a script ends as soon as the functions of all these calls have been
traced.
"""

from __future__ import annotations

import ast
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from tpudist.surfaces.eras import names, program

if TYPE_CHECKING:
    from typing import Hashable, Iterable, Iterator

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


class Call(NamedTuple):
    """A call that runs replica functions.

    Args:
      path: of the file.
      first, last: lines, counted from 1.
      functions: how many functions it runs; 0 if unknown, because the function is a
        parameter of the code that calls.
    """

    path: str
    first: int
    last: int
    functions: int


class Calls:
    """The calls of a script and its own modules, and the functions that each has run.

    Args:
      script: the path.
    """

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
        """Notes that a function was run.

        Args:
          stack: (file, line) of each frame.
          function: a key that differs between functions.
        """
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
    """Yields each call with the parameters of the functions around it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            yield node, parameters
        inner = parameters
        if isinstance(node, _Function):
            inner |= {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
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
