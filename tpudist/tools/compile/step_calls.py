"""The calls of a program that run replica functions, read from its source."""

from __future__ import annotations

import ast
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from tpudist.surfaces.eras import names, program

if TYPE_CHECKING:
    from typing import Any, Hashable, Iterable, Iterator

#: Members of strategies that run a function on replicas; `run` others have too.
_RUNS = ("experimental_run_v2", "experimental_run", "call_for_each_tower", "call_for_each_replica")

#: Members of models and estimators that do.
_TRAINS = (
    *("fit", "fit_generator", "evaluate", "predict", "train", "train_and_evaluate"),
    *("train_on_batch", "test_on_batch", "predict_on_batch"),
)

#: What has a `run` and is no strategy.
_NO_STRATEGY = re.compile("sess|subprocess|asyncio|app$|estimator", re.IGNORECASE)

_Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Call(NamedTuple):
    """A call that runs replica functions.

    Args:
      path: of the file.
      first, last: lines, counted from 1.
      functions: how many functions it runs; 0 if nobody knows, because it is handed
        the function.
    """

    path: str
    first: int
    last: int
    functions: int


class Calls:
    """Which calls of a script and its own modules have run their functions.

    Args:
      script: the path.
    """

    def __init__(self, script: str) -> None:
        self._found: dict[Call, set[Hashable]] = {}
        self._unread: list[Any] = []
        for path, tree in program.files(script, self._unread):
            try:
                self._found.update((call, set()) for call in _calls(tree, path))
            except Exception as error:  # the script runs to its own end then
                self._unread.append((path, error))

    def note(self, places: Iterable[tuple[str, int]], function: Hashable) -> None:
        """Notes that a function was run.

        Args:
          places: (file, line) of the stack.
          function: tells functions apart.
        """
        lines = {(os.path.realpath(file), line) for file, line in places}
        for call, functions in self._found.items():
            if any((call.path, line) in lines for line in range(call.first, call.last + 1)):
                functions.add(function)

    def done(self) -> bool:
        """Whether every call has run as many functions as it has."""
        return bool(self._found) and not self._unread and not self.left()

    def left(self) -> list[Call]:
        """The calls that have not."""
        return [
            call
            for call, functions in self._found.items()
            if not call.functions or len(functions) < call.functions
        ]

    def unreached(self) -> list[Call]:
        """The calls that have run no function."""
        return [call for call, functions in self._found.items() if not functions]


def _calls(tree: ast.AST, path: str) -> Iterator[Call]:
    path = os.path.realpath(path)
    for node, parameters in _with_parameters(tree, frozenset()):
        count = _functions(node, parameters)
        if count is not None:
            lines = [each.lineno for each in ast.walk(node) if hasattr(each, "lineno")]
            yield Call(path, node.lineno, max(lines), count)


def _with_parameters(
    tree: ast.AST, parameters: frozenset[str]
) -> Iterator[tuple[ast.Call, frozenset[str]]]:
    """Each call, and the parameters of the functions that it is in."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            yield node, parameters
        inner = parameters
        if isinstance(node, _Function):
            inner |= {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        yield from _with_parameters(node, inner)


def _functions(call: ast.Call, parameters: frozenset[str]) -> int | None:
    """How many functions a call runs, 0 if that cannot be told; None if it runs none."""
    if not isinstance(call.func, ast.Attribute):
        return None
    name, receiver = call.func.attr, _last_word(call.func.value)
    if name in _TRAINS:
        validates = any((each.arg or "").startswith("validation_") for each in call.keywords)
        return 2 if name == "train_and_evaluate" or validates else 1
    if name not in _RUNS and not (name == "run" and _may_be_strategy(call, receiver)):
        return None
    given = call.args[0] if call.args else _keyword(call, "fn")
    return 0 if isinstance(given, ast.Name) and given.id in parameters else 1


def _may_be_strategy(call: ast.Call, receiver: str) -> bool:
    if names.is_called_like_a_strategy(receiver):
        return True
    given = call.args[0] if call.args else _keyword(call, "fn")
    return isinstance(given, (ast.Name, ast.Attribute, ast.Lambda)) and not (
        _NO_STRATEGY.search(receiver)
    )


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _last_word(node: ast.AST) -> str:
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""
