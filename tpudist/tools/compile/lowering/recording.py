"""Records the replica functions that a script runs, so that they can be compiled."""

from __future__ import annotations

import functools
from typing import Any, Callable, Hashable, NamedTuple

import tensorflow as tf

from tpudist.errors import CompileError
from tpudist.tfcompat import distributed, functions, graphs, nests
from tpudist.tools.compile.lowering import graph_ops, tracing
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
      traced: called with (file, line) of each frame of the stack, and a key that differs
        between functions, for each function. The functions are then traced only, and
        return zeros. None runs the functions.
    """

    def __init__(
        self,
        check: Callable[[Any], object] = lambda strategy: None,
        traced: Callable[[list[tuple[str, int]], Hashable], object] | None = None,
    ) -> None:
        #: The functions with their traces, and variables that are to be kept alive.
        self._functions: dict[Hashable, tuple[Recorded, tracing.Step | None, list[Any]]] = {}
        self._check, self._on_traced = check, traced

    def __enter__(self) -> Recorder:
        if self._on_traced is None:
            replicate.observers.append(self._observe)
        else:
            replicate.substitutes.append(self._substitute)
        return self

    def __exit__(self, *exception: object) -> None:
        for each in (replicate.observers, replicate.substitutes):
            each[:] = [entry for entry in each if getattr(entry, "__self__", None) is not self]

    def programs(self, lower: Callable[[tracing.Step], Program]) -> list[Recorded]:
        """Lowers each function, once for each shape of its arguments."""
        return [_lowered(each, step, lower) for each, step, _ in self._functions.values()]

    def _observe(self, extended: Any, fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
        with graphs.collections_kept():
            self._trace(extended, fn, args, kwargs)

    def _substitute(self, extended: Any, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Traces a function, and returns and hands out zeros in place of its results."""
        key, traced = self._trace(extended, fn, args, kwargs)
        if self._on_traced is not None:
            self._on_traced(graphs.stack(), key)
        if isinstance(traced, CompileError):
            raise traced
        for value, receive in traced.handed_out:
            receive(zeros_of_replicas(extended, value))
        return zeros_of_replicas(extended, traced.results)

    def _trace(
        self, extended: Any, fn: Callable[..., Any], args: Any, kwargs: Any
    ) -> tuple[Hashable, tracing.Traced | CompileError]:
        """Traces and records a function; returns (its key, its trace or why there is none)."""
        strategy = extended._container_strategy()
        self._check(strategy)
        name, location = _name_and_location(fn)
        key: Hashable
        try:
            traced = tracing.trace(strategy, fn, args, kwargs)
        except Exception as error:  # the user's code may raise anything
            key = (name, location, str(error))
            failure = _as_compile_error(error)
            self._functions[key] = (Recorded(name, location, None, failure), None, [])
            return key, failure
        step = traced.step
        shapes = tuple(
            (each.placeholder.dtype, str(each.placeholder.shape))
            for each in step.inputs
            if each.outer is None
        )
        used = [stored_once.of_handle(each.outer) for each in step.inputs]
        key = (name, location, id(strategy), shapes)
        recorded = Recorded(name, location or _first_line(step.graph), None, None)
        self._functions[key] = (recorded, step, used + list(step.graph.variables))
        return key, traced


def _as_compile_error(error: Exception) -> CompileError:
    if isinstance(error, CompileError):
        return error
    return CompileError(
        "%s: %s" % (type(error).__name__, error),
        "the function failed when it was traced once for all replicas, as on a TPU",
        "write it so that it runs with a replica id that is a tensor",
    )


def _lowered(
    recorded: Recorded, step: tracing.Step | None, lower: Callable[[tracing.Step], Program]
) -> Recorded:
    if step is None:
        return recorded
    try:
        return recorded._replace(program=lower(step))
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
    lines = (graph_ops.location(graph, op.name, op) for op in graph.get_operations())
    return next(filter(None, lines), "")


def zeros_of_replicas(extended: Any, results: Any) -> Any:
    """Returns zeros of the dtypes and shapes of what a function returned when it was traced.

    Context: cross-replica, eager or in a graph.

    Returns:
      The nest with distributed zeros of the same dtypes and shapes in place of
      tensors, an unknown dimension being 1, and with no-ops in place of ops. Variables,
      and values that are no tensors, stay.
    """
    with extended.place():
        return distributed.regroup(
            extended,
            [nests.map_structure(_zeros, results) for _ in range(extended._num_replicas_in_sync)],
        )


def _zeros(leaf: Any) -> Any:
    if isinstance(leaf, tf.Operation):
        return None if tf.executing_eagerly() else tf.no_op()
    if isinstance(leaf, tf.Variable) or not (
        distributed.is_distributed(leaf) or distributed.is_tensor_like(leaf)
    ):
        return leaf
    leaf = distributed.components(leaf)[0]
    return distributed.pack(leaf, [_zero(part) for part in distributed.flatten(leaf)])


def _zero(tensor: tf.Tensor) -> tf.Tensor:
    if tensor.shape.rank is None:
        return tf.zeros([], tensor.dtype)
    return tf.zeros([1 if size is None else size for size in tensor.shape.as_list()], tensor.dtype)
