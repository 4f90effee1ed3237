"""Traces replicas one by one, in threads that meet at every ``merge_call``.

This is the mirrored strategy's own engine, with a replica's ops placed on the
one real device instead of on the replica's label.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import tensorflow as tf

from tpudist.tfcompat import distributed, distributed_values, functions, graphs, nests, versions
from tpudist.virtual import keras_loops
from tpudist.virtual.replicas import merge
from tpudist.virtual.tpu_check import reports
from tpudist.virtual.trace import dependencies, function_graphs, tpu_numbers
from tpudist.virtual.variables import splits

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tpudist.tfcompat.annotations import (
        Args,
        Extended,
        Fn,
        Kwargs,
        Nest,
        Operation,
        Strategy,
        Tensor,
    )
    from tpudist.virtual.explanations import Explanation


#: TensorFlow's name scope of every replica but the first.
_REPLICA = re.compile(r"(?:^|/)replica_(\d+)(?:_\d+)?/")

#: Whether ``tf.init_scope`` keeps the replica's label, but no device function.
_LABELS_LEAVE = versions.INIT_SCOPE_SKIPS_DEVICE_FUNCTIONS and not versions.BY_DEVICE


def run(extended: Extended, fn: Fn, args: Args, kwargs: Kwargs, explanation: Explanation) -> Nest:
    """Traces `fn` once per replica into the current graph.

    Context: cross-replica, in a graph or a ``tf.function``; `explanation` gets what a TPU refuses.
    """
    function_graphs.check_lengths(extended, (args, kwargs))
    if functions.in_function():
        fn = functions.convert(fn)
    names, lines = _Names(), functions.source_lines()

    def on_the_device(*replica_args: Any, **replica_kwargs: Any) -> Nest:
        with functions.source_lines_as(lines), _label(extended), extended.place():
            with _replica(extended), names.of_a_replica():
                current = tf.distribute.get_replica_context()
                result = fn(*replica_args, **replica_kwargs)
                result = distributed.with_whole_variables(current, result)
        distributed.end_before_joining()
        return result

    with _traced(extended), names.continued():
        results = distributed.MirroredExtended._call_for_each_replica(
            extended, functions.do_not_convert(on_the_device), args, kwargs
        )
        results = distributed_values.found_by_device(extended, results)
        if not tf.executing_eagerly():
            splits.split_written(extended.replicas.others())
            explanation.refused = reports.check_ops(extended.replicas.ops(), results)
            tpu_numbers.round_operands(tf.compat.v1.get_default_graph(), extended.replicas.ops())
        if extended.runs_as_session:
            graph = tf.compat.v1.get_default_graph()
            dependencies.prune_ops(graph, extended.replicas.ops(), results)
        return results


class _Names:
    """Counts names of layers and scopes in a TF 1 graph; TensorFlow counts per thread."""

    def __init__(self) -> None:
        self._counts = not (tf.executing_eagerly() or functions.in_function())
        self._used = functions.variable_names() if self._counts else None
        self._last: dict[str, int] | None = None

    @contextlib.contextmanager
    def of_a_replica(self) -> Iterator[Any]:
        """Context manager in a replica's thread: names are counted from where the call began."""
        if self._counts:
            graphs.count_variable_names(self._used)
        yield
        if self._counts:
            self._last = functions.variable_names()

    @contextlib.contextmanager
    def continued(self) -> Iterator[Any]:
        """Context manager: after the block, which calls the replicas, their count continues."""
        yield
        if self._last is not None:
            graphs.count_variable_names(self._last)


@contextlib.contextmanager
def _traced(extended: Extended) -> Iterator[Any]:
    """Sets `extended.replicas` to the replicas that are traced in the block."""
    before, extended.replicas = extended.replicas, Replicas()
    try:
        yield
    finally:
        extended.replicas = before


class Replicas:
    """The ops of replicas that are being traced one by one."""

    def __init__(self) -> None:
        self._graph = tf.compat.v1.get_default_graph()
        self._start = len(self._graph.get_operations())

    def ops(self) -> list[Operation]:
        """The ops added to the graph since the replicas were started."""
        return self._graph.get_operations()[self._start :]

    def others(self) -> list[Any]:
        """The ops of all replicas but the first."""
        return [op for op in self.ops() if _REPLICA.search(op.name)]

    def use_own_handles(self, ops: Sequence[Operation], handles: Any) -> None:
        """Replaces the first of `handles`, which `ops` of all replicas use so far, by their own."""
        with self._graph.as_default():
            captured = [functions.capture(self._graph, handle) for handle in handles]
        for op in ops:
            match = _REPLICA.search(op.name)
            for i, tensor in enumerate(op.inputs) if match else ():
                if tensor is captured[0]:
                    functions.replace_input(op, i, captured[int(match.group(1))])  # type: ignore[union-attr]


class Replica(distributed.MirroredReplicaContext):
    """The context of one of the replicas that are traced one by one."""

    stands_for_all = False

    def __init__(self, strategy: Strategy, replica_id: int) -> None:
        super().__init__(strategy, replica_id)
        self._flow = functions.control_flow_context()
        self._graph = tf.compat.v1.get_default_graph()

    def experimental_logical_device(self, logical_device_id: int) -> AbstractContextManager[Any]:
        """See `VirtualExtended`."""
        return self.strategy.extended.experimental_logical_device(logical_device_id)

    def _merge_call(self, merge_fn: Fn, args: Args, kwargs: Kwargs) -> Nest:
        if keras_loops.builds_a_model(merge_fn):
            with keras_loops.alone(self):
                return merge_fn(self.strategy, *args, **kwargs)
        args, kwargs = distributed.with_whole_variables(self, (tuple(args), kwargs))
        if functions.control_flow_context() is not self._flow:
            raise merge.refusal("a branch or loop")
        merge.check_place(self._graph)

        @functions.library
        def meet(*merge_args: Any, **merge_kwargs: Any) -> Nest:
            extended = self.strategy.extended
            given = (merge_args, merge_kwargs)
            if not merge.keeps_merged(merge_fn):
                given = distributed.as_per_replica(extended, given)
            merge_args, merge_kwargs = distributed_values.found_by_device(extended, given)
            with function_graphs.meeting():
                return merge_fn(*merge_args, **merge_kwargs)

        return super()._merge_call(meet, args, kwargs)

    @functions.library
    def all_reduce(self, reduce_op: Any, value: Any, *options: Any, **named_options: Any) -> Nest:
        """Sums or averages a nest over the replicas; see ``ReplicaContext``.

        TensorFlow searches the graph behind a result with a custom gradient for
        variables. Here the search would pass through the reduction and refuse
        the other replicas' variables, so it is stopped at the reduction's inputs.
        """
        native = super().all_reduce if versions.WORKS_OUTSIDE_SCOPE else self._merge_and_reduce
        flat = nests.flatten(value)
        if any(isinstance(leaf, distributed.IndexedSlices) for leaf in flat):
            return native(reduce_op, value, *options, **named_options)

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def reduced(*tensors: Any) -> tuple[Any, ...]:
            totals = native(reduce_op, [_behind(t) for t in tensors], *options, **named_options)
            return totals, lambda *gradients: self.all_reduce(
                reduce_op, list(gradients), *options, **named_options
            )

        return nests.pack_sequence_as(value, reduced(*flat))

    def _merge_and_reduce(self, reduce_op: object, value: object) -> Nest:
        """``all_reduce`` of a nest, for releases that have none."""

        def merge(strategy: Strategy, *merged: Any) -> Nest:
            return strategy.extended.batch_reduce_to(reduce_op, [(leaf, leaf) for leaf in merged])

        flat = self.merge_call(functions.library(merge), args=tuple(nests.flatten(value)))
        return nests.pack_sequence_as(value, flat)


def _behind(tensor: Tensor) -> Tensor:
    """`tensor`, where the search for variables stops; keeps its name for error messages."""
    name = getattr(getattr(tensor, "op", None), "name", "value")
    return tf.stop_gradient(tensor, name=name.split("/")[-1])


def _replica(extended: Extended) -> Replica:
    current = tf.distribute.get_replica_context()
    return Replica(extended._container_strategy(), current._replica_id_in_sync_group)


@contextlib.contextmanager
def _label(extended: Extended) -> Iterator[Any]:
    """Keeps the replica's label current where the release looks for it.

    Until 2.3 TensorFlow caches nested functions by the eager context's device; releases with a
    device map find variables by it too. ``tf.init_scope`` of 2.2 and 2.3 places its ops on the
    graph's innermost device, and where soft placement is off a label is none: so there the real
    device is the graph's alone.
    """
    if not versions.DEVICE_MAP or tf.executing_eagerly():
        leaves = _LABELS_LEAVE and not tf.executing_eagerly()
        graph = tf.compat.v1.get_default_graph() if leaves else None
        with graph.device(extended.real_device) if graph else contextlib.nullcontext():
            yield
        return
    replica_id = functions.static_value(
        tf.distribute.get_replica_context().replica_id_in_sync_group
    )
    with functions.eager_device(extended.worker_devices[replica_id]):
        yield
