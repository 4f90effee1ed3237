"""Records the replica functions that a script runs, so that they can be compiled."""

from __future__ import annotations

import functools
from typing import Any, Callable, Hashable, NamedTuple

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import functions, graphs
from tpudist.tools.compile.lowering import graph_ops, to_hlo, tracing
from tpudist.tools.compile.program import Program
from tpudist.virtual.replicas import replicate
from tpudist.virtual.variables import stored_once

#: AutoGraph's name in the code that it writes, and the functions around a converted one.
_AUTOGRAPH = "ag__"
_FACTORY = "outer_factory.inner_factory."


class Recorded(NamedTuple):
    """A replica function: its name and line, and its `program.Program`, or the
    `CompileError` if it could not be lowered."""

    name: str
    location: str
    program: Program | None
    error: CompileError | None


class Recorder:
    """Context manager: records every replica function that runs inside.

    After its replicas have been traced (once for each shape of its arguments),
    the function is traced again for the compiler. :meth:`programs` lowers it;
    by then its variables have their values.

    Args:
      check: called with the strategy of each function; what it raises ends the script.
    """

    def __init__(self, check: Callable[[Any], object] = lambda strategy: None) -> None:
        #: The functions with their traces, and variables that are to be kept alive.
        self._functions: dict[Hashable, tuple[Recorded, tracing.Step | None, list[Any]]] = {}
        self._check = check

    def __enter__(self) -> Recorder:
        replicate.observers.append(self._observe)
        return self

    def __exit__(self, *exception: object) -> None:
        own = [each for each in replicate.observers if getattr(each, "__self__", None) is self]
        for each in own:
            replicate.observers.remove(each)

    def programs(self) -> list[Recorded]:
        """Lowers each function, once for each shape of its arguments."""
        return [_lowered(each, step) for each, step, _ in self._functions.values()]

    def _observe(self, extended: Any, fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
        with graphs.collections_kept():
            self._trace(extended, fn, args, kwargs)

    def _trace(self, extended: Any, fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
        """Traces and records a function, or why it cannot be traced."""
        strategy = extended._container_strategy()
        self._check(strategy)
        name, location = _name_and_location(fn)
        key: Hashable
        try:
            step = tracing.trace(strategy, fn, args, kwargs)
        except Exception as error:  # the user's code may raise anything  # noqa: BLE001
            key = (name, location, str(error))
            failure = _as_compile_error(error)
            self._functions[key] = (Recorded(name, location, None, failure), None, [])
            return
        shapes = tuple(
            (each.placeholder.dtype, str(each.placeholder.shape))
            for each in step.inputs
            if each.outer is None
        )
        used = [stored_once.of_handle(each.outer) for each in step.inputs]
        key = (name, location, id(strategy), shapes)
        recorded = Recorded(name, location or _first_line(step.graph), None, None)
        self._functions[key] = (recorded, step, used + list(step.graph.variables))


def _as_compile_error(error: Exception) -> CompileError:
    if isinstance(error, CompileError):
        return error
    return CompileError(
        "%s: %s" % (type(error).__name__, error),
        "the function failed when it was traced once for all replicas, as on a TPU",
        "write it so that it runs with a replica id that is a tensor",
    )


def _lowered(recorded: Recorded, step: tracing.Step | None) -> Recorded:
    if step is None:
        return recorded
    try:
        return recorded._replace(program=to_hlo.lower(step))
    except CompileError as error:
        return recorded._replace(error=error)


def _name_and_location(fn: Any) -> tuple[str, str]:
    """Returns (name, "file:line") of the function inside of wrappers.

    The line is "" if the function is inside one that AutoGraph converted, because its
    code is in a file of AutoGraph's.
    """
    while True:
        if functions.is_function(fn):
            fn = fn.python_function
        elif isinstance(fn, functools.partial):
            fn = fn.func
        elif hasattr(fn, "__wrapped__"):
            fn = fn.__wrapped__
        else:
            break
    code = getattr(fn, "__code__", None)
    name = getattr(fn, "__qualname__", type(fn).__name__)
    name = name.replace("<locals>.", "").replace(_FACTORY, "")
    if code is None or _AUTOGRAPH in code.co_freevars + code.co_names:
        return name.replace("tf__", ""), ""
    return name, "%s:%d" % (code.co_filename, code.co_firstlineno)


def _first_line(graph: tf.Graph) -> str:
    """Returns the first line of the user's that created an op of a graph."""
    lines = map(graph_ops.location, graph.get_operations())
    return next(filter(None, lines), "")
