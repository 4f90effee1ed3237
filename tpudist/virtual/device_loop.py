"""Builds several training steps as one device-side loop.

Reference: ``run_steps_on_dataset`` (contrib) and ``extended.experimental_run_steps_on_iterator``.
"""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.errors import ArgumentError, ArgumentTypeError, TpudistError
from tpudist.tfcompat import functions, graphs, nests, random_seeds
from tpudist.virtual.trace import function_graphs

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Fn, FunctionGraph, Nest, Operation, Tensor


class DatasetEndError(TpudistError, tf.errors.OutOfRangeError):
    """The dataset ended before all steps had run (eager mode)."""

    def __init__(self, error: Any) -> None:
        tf.errors.OutOfRangeError.__init__(self, error.node_def, error.op, error.message)
        lines = [line.strip() for line in error.message.splitlines() if line.strip()]
        cause = ([line for line in lines if "End of" in line] or lines)[-1]
        TpudistError.__init__(
            self,
            "the dataset ended inside a loop of steps (%s)" % cause,
            "every step takes one batch (per replica), and a TPU cannot stop "
            "inside its loop; the steps before it have taken effect",
            "dataset.repeat(), or fewer iterations",
        )


def check_iterations(iterations: Any) -> Nest:
    """`iterations` as a positive integer or integer tensor."""
    is_tensor = nests.is_tensor(iterations)
    if is_tensor and iterations.dtype.is_integer:
        return iterations
    if is_tensor or isinstance(iterations, bool) or not isinstance(iterations, numbers.Real):
        raise ArgumentTypeError(
            "iterations=%r" % (iterations,),
            "the number of steps is an integer or a scalar integer tensor",
            "iterations=100",
        )
    number: Any = iterations
    if not math.isfinite(number) or number != int(number) or number < 1:
        raise ArgumentError(
            "iterations=%r" % (iterations,),
            "the loop runs a whole number of steps, at least one",
            "iterations=100",
        )
    return int(number)


def run(step: Fn, iterations: object, start: object = None) -> tuple[Any, Operation | None]:
    """Runs `step`, which returns a nest of tensors, `iterations` times in one loop on the device.

    All its stateful ops run, as in a TPU computation. ``start(nest)`` gives the flat list of
    results before the first step; None for zeros.

    Context: cross-replica; graph, ``tf.function`` or eager (runs at once).

    Returns ``(nest, op)``: what the last step returned, and in a graph an op that runs the loop.
    """
    iterations = check_iterations(iterations)
    if not tf.executing_eagerly():
        return _Loop(step, start).build(iterations)
    return run_traced(traced(step, start), iterations), None


def traced(step: Fn, start: object = None) -> _EagerFunction:
    """The loop around `step` as a function of the number of steps, for :func:`run_traced`."""
    return _EagerFunction(lambda iterations: _Loop(step, start).build(iterations))


def run_traced(loop: Fn, iterations: object) -> Any:
    """Runs a loop of :func:`traced` in eager mode; returns the nest."""
    try:
        return loop(tf.convert_to_tensor(iterations))
    except tf.errors.OutOfRangeError as error:
        raise DatasetEndError(error) from error


def run_while(step: Fn, start: Sequence[Tensor]) -> list[Tensor]:
    """Runs `step` as long as the first of the values that it hands on, a boolean scalar, holds.

    ``step(*values)`` gives the values of the next step, and `start` are those of the first.

    Context: cross-replica; graph or ``tf.function``.
    """
    return _Loop(step, carried=start).build_while(start)


def run_once(step: Fn) -> tuple[Any, Operation | None]:
    """Runs `step` once, as one computation with all its stateful ops; returns as :func:`run`."""
    if not tf.executing_eagerly():
        return _Loop(step).call()
    return _EagerFunction(lambda: _Loop(step).call())(), None


def with_effects(step: Fn) -> Fn:
    """Wraps a `step` of TensorFlow's own loop: the op that it returns runs its stateful ops too."""
    if tf.executing_eagerly():
        return step

    def run(context: object, inputs: object) -> Nest:
        graph = tf.compat.v1.get_default_graph()
        flow, start = functions.control_flow_context(), len(graph.get_operations())
        result = step(context, inputs)
        ops = [op for op in graph.get_operations()[start:] if functions.is_stateful(op)]
        return tf.group(result, *[op for op in ops if op._get_control_flow_context() is flow])

    return run


class _EagerFunction:
    """A function for eager mode, traced once for the same dtypes, not twice."""

    def __init__(self, body: Fn) -> None:
        self._body = body
        self._dtypes: list[Any] | None = None

    def __call__(self, *tensors: Any) -> Any:
        if self._dtypes != [tensor.dtype for tensor in tensors]:
            self._trace(tensors)
        results = functions.call(
            self._function, list(tensors) + self._captured, self._graph.outputs
        )
        return nests.pack_sequence_as(
            self._structure, results[: len(nests.flatten(self._structure))]
        )

    def _trace(self, tensors: Sequence[Tensor]) -> None:
        trace = function_graphs.LiftingTrace("steps")
        with trace.ordered() as order:
            placeholders = [functions.placeholder_like(tensor) for tensor in tensors]
            self._structure, run = self._body(*placeholders)
            flat = [order.mark_as_return(leaf) for leaf in nests.flatten(self._structure)]
            with tf.control_dependencies([run]):
                end = order.mark_as_return(tf.constant(0))
        self._graph = trace.finish(flat or [end], placeholders)
        self._function = functions.make(self._graph, noinline=False)
        self._captured = [outer for outer, _ in functions.captures(self._graph)]
        self._dtypes = [tensor.dtype for tensor in tensors]


class _Loop:
    """The loop around one traced step, which takes values like `carried` if there are any."""

    def __init__(self, step: Fn, start: Any = None, carried: Sequence[Tensor] = ()) -> None:
        self._structure = None
        self._start = start or (
            lambda structure: [zeros(tensor) for tensor in nests.flatten(structure)]
        )
        self._graph = self._trace(step, carried)
        self._function = functions.make(self._graph, noinline=False)
        self._captured = [outer for outer, _ in functions.captures(self._graph)]

    def _trace(self, step: Fn, carried: Sequence[Tensor]) -> FunctionGraph:
        trace = function_graphs.LiftingTrace("step")
        with random_seeds.continued(trace.graph, trace.outer), trace.ordered() as order:
            placeholders = [functions.placeholder_like(tensor) for tensor in carried]
            with graphs.learning_phase_known():
                self._structure = step(*placeholders)
            flat = [
                order.mark_as_return(tf.convert_to_tensor(leaf))
                for leaf in nests.flatten(self._structure)
            ]
            end = order.mark_as_return(tf.constant(0))
        self._count = len(flat)
        return trace.finish(flat or [end], placeholders)

    def build_while(self, start: Sequence[Tensor]) -> list[Tensor]:
        """Adds the loop of :func:`run_while` to the current graph."""

        def body(*values: Tensor) -> list[Tensor]:
            inputs = list(values) + self._captured
            results = functions.call(self._function, inputs, self._graph.outputs)
            with tf.control_dependencies([results[0].op]):
                return [tf.identity(tensor) for tensor in results]

        looped = tf.while_loop(lambda go, *unused: go, body, list(start), parallel_iterations=1)
        return list(nests.flatten(looped))

    def build(self, iterations: Any) -> tuple[Any, ...]:
        """Adds the loop to the current graph."""

        def condition(i: Any, *unused: Any) -> Nest:
            return i < iterations

        def body(i: Any, *unused: Any) -> list[Tensor]:
            results = functions.call(self._function, self._captured, self._graph.outputs)
            with tf.control_dependencies([results[0].op]):
                return [i + 1] + results[: self._count]

        outputs = self._graph.outputs[: self._count]
        start = [tf.cast(0, iterations.dtype if nests.is_tensor(iterations) else tf.int32)]
        start += self._start(self._pack(outputs))
        shapes = [start[0].shape] + [tensor.shape for tensor in outputs]
        looped = tf.while_loop(
            condition, body, start, shape_invariants=shapes, parallel_iterations=1
        )
        counter, *results = nests.flatten(looped)
        with tf.control_dependencies([counter]):
            results = [tf.identity(tensor) for tensor in results]
            return self._pack(results), tf.no_op()

    def call(self) -> tuple[Any, ...]:
        """Calls the step once in the current graph."""
        results = functions.call(self._function, self._captured, self._graph.outputs)
        with tf.control_dependencies([results[0].op]):
            copies = [tf.identity(tensor) for tensor in results[: self._count]]
            return self._pack(copies), tf.no_op()

    def _pack(self, flat: object) -> Any:
        return nests.pack_sequence_as(self._structure, flat)


def zeros(tensor: Tensor) -> Nest:
    """Zeros, as a start value for `tensor`; a dimension of unknown size is 0."""
    dims = tensor.shape.as_list() if tensor.shape.rank is not None else []
    return tf.zeros([dim or 0 for dim in dims], tensor.dtype)
