"""Runs Keras' training loops for TPUs in a TF 1 graph.

They build the program of one replica in cross-replica context, which a TPU traces once. Here every
replica traces it, in the cross-replica context of its own thread; ``call_for_each_replica`` in it
leads back to the replica.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from typing import TYPE_CHECKING, Any, Iterator

import tensorflow as tf

from tpudist.tfcompat import distributed, functions, nests
from tpudist.virtual import device_loop

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Args, Extended, Fn, Graph, Kwargs, Nest, Operation


#: The modules of Keras that start replicas in a TF 1 graph (until 2.15).
_LOOPS: tuple[str, ...] = ("training_distributed", "distributed_training_utils")
_LOOPS += ("training_distributed_v1", "distributed_training_utils_v1")

_here = threading.local()


def is_of_keras(fn: Fn) -> bool:
    """Whether a function is one of Keras' loops, in a TF 1 graph."""
    module = getattr(fn, "__module__", None) or ""
    return module.split(".")[-1] in _LOOPS and functions.in_session_graph()


def builds_a_model(merge_fn: Fn) -> bool:
    """Whether a function passed to ``merge_call`` builds the program of one replica."""
    return getattr(merge_fn, "__name__", "") == "_build_model" and is_of_keras(merge_fn)


@contextlib.contextmanager
def alone(context: Any) -> Iterator[Any]:
    """Context manager in a replica's thread: cross-replica context for this one replica."""
    before = getattr(_here, "context", None), is_tracing()
    _here.context, _here.tracing = context, True
    try:
        with distributed.cross_replica(context.strategy):
            yield
    finally:
        _here.context, _here.tracing = before


def is_tracing() -> bool:
    """Whether this thread is tracing a replica's program that Keras builds."""
    return getattr(_here, "tracing", False)


def replica_of(extended: Extended) -> Any:
    """The context of the one replica whose program this thread traces (:func:`alone`), or None."""
    context = getattr(_here, "context", None)
    return context if context is not None and context.strategy.extended is extended else None


def call_in_replica(context: Any, fn: Fn, args: Args, kwargs: Kwargs) -> Nest:
    """Calls `fn` in a replica that is traced alone, in place of ``call_for_each_replica``."""
    before, _here.context = _here.context, None
    try:
        with context:
            return fn(*args, **(kwargs or {}))
    finally:
        _here.context = before


def building_alone(fn: Fn) -> Fn:
    """Wraps a step function of Keras so that each replica, in its own thread, builds its model."""

    @functools.wraps(fn)
    def replica(*args: Any, **kwargs: Any) -> Nest:
        native: Any = tf.distribute.get_replica_context()
        native_class: Any = type(native)
        with _builder(native_class)(native.strategy, native.replica_id_in_sync_group):
            return fn(*args, **kwargs)

    return replica


@functools.lru_cache(maxsize=None)
def _builder(native: Any) -> type[Any]:
    """The class of contexts, a subclass of `native`, of replicas that build a model alone."""

    class Replica(native):
        """The context of a replica that does not meet the others to build its model."""

        def _merge_call(self, merge_fn: Fn, args: Args, kwargs: Kwargs) -> Nest:
            if not builds_a_model(merge_fn):
                return super()._merge_call(merge_fn, args, kwargs)
            with alone(self):
                return merge_fn(self.strategy, *args, **kwargs)

    return Replica


class StepOutputs:
    """The outputs that a step of Keras sets; after the loop, its results."""

    def __init__(self) -> None:
        self.last_step_outputs: dict[Any, Any] = {}
        self.non_tensor_outputs: dict[Any, Any] = {}
        self.reductions: dict[Any, Any] = {}
        self.run_op: Operation | None = None

    def set_last_step_output(self, name: str, output: object, reduce_op: object = None) -> None:
        """Makes a tensor of the replica an output of the loop."""
        self.last_step_outputs[name] = tf.convert_to_tensor(output)
        self.reductions[name] = reduce_op

    def set_non_tensor_output(self, name: str, output: object) -> None:
        """Makes anything else an output of the loop."""
        self.non_tensor_outputs[name] = output


def run_steps(extended: Extended, fn: Fn, iterator: Any, iterations: object) -> Nest:
    """``experimental_run_steps_on_iterator`` of Keras' step function; returns `StepOutputs`.

    ``fn(outputs, inputs)`` is the program of one replica.

    Context: cross-replica, in the scope, in a TF 1 graph.
    """
    loop_outputs = StepOutputs()
    outer = tf.compat.v1.get_default_graph()

    def replica(inputs: object) -> Nest:
        outputs = StepOutputs()
        with _scopes_copied_to(outer), alone(tf.distribute.get_replica_context()):
            fn(outputs, inputs)
        loop_outputs.reductions.update(outputs.reductions)
        return outputs.last_step_outputs

    def step() -> dict[Any, Any]:
        inputs = iterator.get_next()
        with functions.unconverted(), tf.control_dependencies(_tensors_of(inputs)):
            outputs: dict[Any, Any] = extended.call_for_each_replica(replica, args=(inputs,))
            for name, reduce_op in loop_outputs.reductions.items():
                if reduce_op is not None:  # one tensor; else a list with one per replica
                    outputs[name] = extended.reduce_to(reduce_op, outputs[name], "/device:CPU:0")
                parts = distributed.components(outputs[name])
                outputs[name] = list(parts) if reduce_op is None else parts[0]
            return outputs

    results = device_loop.run(step, tf.convert_to_tensor(iterations))
    loop_outputs.last_step_outputs, loop_outputs.run_op = results
    return loop_outputs


@contextlib.contextmanager
def _scopes_copied_to(outer: Graph) -> Iterator[Any]:
    """Copies the strategy's scope and variable creators to `outer`, which has them per thread."""
    inner = tf.compat.v1.get_default_graph()
    before = outer._variable_creator_stack, outer._distribution_strategy_stack
    outer._variable_creator_stack = list(inner._variable_creator_stack)
    outer._distribution_strategy_stack = list(inner._distribution_strategy_stack)
    try:
        yield
    finally:
        outer._variable_creator_stack, outer._distribution_strategy_stack = before


def _tensors_of(inputs: object) -> list[Any]:
    parts = [part for leaf in nests.flatten(inputs) for part in distributed.components(leaf)]
    return [tensor for tensor in distributed.flatten(parts) if nests.is_tensor(tensor)]
