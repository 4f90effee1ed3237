"""Records the replica functions that a script runs, so that they can be compiled."""

from __future__ import annotations

from typing import Any, Callable, Hashable, NamedTuple

from tpudist.errors import CompileError
from tpudist.tfcompat import graphs
from tpudist.tools.compile.lowering import to_hlo, tracing
from tpudist.tools.compile.report import Program, Refusal
from tpudist.virtual import explanations
from tpudist.virtual.replicas import replicate
from tpudist.virtual.tpu_check.causes import Cause
from tpudist.virtual.variables import stored_once


class Recorded(NamedTuple):
    """A replica function: its name with its line, and its `report.Program`, or the
    `CompileError` if it could not be lowered."""

    name: str
    program: Program | None
    error: CompileError | None

    def refusals(self) -> list[Refusal]:
        """The reasons for which it could not be lowered, one a line; none if it was."""
        if self.error is None:
            return []
        causes = self.error.causes or [Cause("?", (), self.error.seen, self.error.instead)]
        places = [each.place.rpartition(":") for each in causes]
        return [
            Refusal(self.name, file, int(line) if file else 0, each.what, each.instead)
            for each, (file, _, line) in zip(causes, places)
        ]


class Recorder:
    """Context manager: records every replica function that runs inside, traced for the compiler.

    :meth:`programs` lowers them after it, when their variables have their values. `check` is called
    with the strategy of each function; what it raises ends the script.
    """

    def __init__(self, check: Callable[[Any], object] = lambda strategy: None) -> None:
        #: The functions with their traces, and variables that are to be kept alive.
        self._functions: dict[Hashable, tuple[Recorded, tracing.Step | None, list[Any]]] = {}
        self._check = check

    def __enter__(self) -> Recorder:
        replicate.observers.append(self._observe)
        return self

    def __exit__(self, *exception: object) -> None:
        replicate.observers.remove(self._observe)

    def programs(self) -> list[Recorded]:
        """Lowers each function, once for each shape of its arguments."""
        found = []
        for recorded, step, _ in self._functions.values():
            try:
                program = to_hlo.lower(step) if step is not None else None
                found.append(recorded._replace(program=program))
            except CompileError as error:
                found.append(recorded._replace(error=error))
        return found

    def _observe(self, extended: Any, fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
        """Traces and records a function, or why it cannot be traced."""
        strategy = extended._container_strategy()
        self._check(strategy)
        try:
            with graphs.collections_kept():
                step = tracing.trace(strategy, fn, args, kwargs)
        except Exception as error:  # the user's code may raise anything  # noqa: BLE001
            name = explanations.name_of(fn, ())
            told = CompileError(
                "%s: %s" % (type(error).__name__, error),
                "the function failed when it was traced once for all replicas, as on a TPU",
                "write it so that it runs with a replica id that is a tensor",
            )
            failed = Recorded(name, None, error if isinstance(error, CompileError) else told)
            self._functions[name, str(error)] = (failed, None, [])
            return
        shapes = tuple(
            (each.placeholder.dtype, str(each.placeholder.shape))
            for each in step.inputs
            if each.outer is None
        )
        used = [stored_once.of_handle(each.outer) for each in step.inputs]
        recorded = Recorded(explanations.name_of(fn, step.graph.get_operations()), None, None)
        key = (recorded.name, id(strategy), shapes)
        self._functions[key] = (recorded, step, used + list(step.graph.variables))
