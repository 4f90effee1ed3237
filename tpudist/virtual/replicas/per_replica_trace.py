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
        Graph,
        Kwargs,
        Nest,
        Operation,
        Strategy,
    )
    from tpudist.virtual.explanations import Explanation


#: TensorFlow's name scope of every replica but the first.
_REPLICA = re.compile(r"(?:^|/)replica_(\d+)(?:_\d+)?/")

#: Whether ``tf.init_scope`` keeps the replica's label, but no device function (2.2 and 2.3).
_LABELS_LEAVE = not versions.TRACE_ONCE and not versions.BY_DEVICE


def run(extended: Extended, fn: Fn, args: Args, kwargs: Kwargs, explanation: Explanation) -> Nest:
    """Traces `fn` once per replica into the current graph.

    Context: cross-replica, in a graph or a ``tf.function``; `explanation` gets what a TPU refuses.
    """
    function_graphs.check_lengths(extended, (args, kwargs))
    if functions.in_function():
        fn = functions.convert(fn)
    lines, in_session = functions.source_lines(), functions.in_session_graph()
    names = before_names = functions.variable_names() if in_session else {}

    def on_the_device(*replica_args: Any, **replica_kwargs: Any) -> Nest:
        nonlocal names
        with functions.source_lines_as(lines), _label(extended), extended.place():
            native = tf.distribute.get_replica_context()
            current = Replica(native.strategy, native._replica_id_in_sync_group)
            with current:
                if in_session:  # TensorFlow counts names of layers and scopes for each thread
                    graphs.count_variable_names(before_names)
                result = fn(*replica_args, **replica_kwargs)
                result = distributed.with_whole_variables(current, result)
                names = functions.variable_names() if in_session else {}
        distributed.end_before_joining()
        return result

    graph = tf.compat.v1.get_default_graph()
    before, extended.replicas = extended.replicas, Replicas()
    try:
        results = distributed.MirroredExtended._call_for_each_replica(
            extended, functions.do_not_convert(on_the_device), args, kwargs
        )
        results = distributed_values.found_by_device(extended, results)
        if not tf.executing_eagerly():
            ops = extended.replicas.ops()
            splits.split_written([op for op in ops if _REPLICA.search(op.name)])  # the first's not
            explanation.refused = reports.check_ops(extended.replicas.ops(), results)
            tpu_numbers.round_operands(graph, extended.replicas.ops())
        if extended.runs_as_session:
            dependencies.prune_ops(graph, extended.replicas.ops(), results)
    finally:
        extended.replicas = before
    if in_session:
        graphs.count_variable_names(names)
    return results


class Replicas:
    """The ops of replicas that are being traced one by one."""

    def __init__(self) -> None:
        self._graph: Graph = tf.compat.v1.get_default_graph()
        self._start = len(self._graph.get_operations())

    def ops(self) -> list[Operation]:
        """The ops added to the graph since the replicas were started."""
        return list(self._graph.get_operations()[self._start :])

    def use_own_handles(self, ops: Sequence[Operation], handles: Any) -> None:
        """Replaces the first of `handles`, which `ops` of all replicas use so far, by their own."""
        with self._graph.as_default():
            captured = [functions.capture(self._graph, handle) for handle in handles]
        for op in ops:
            match = _REPLICA.search(op.name)
            for i, tensor in enumerate(op.inputs) if match else ():
                if tensor is captured[0]:
                    op._update_input(i, captured[int(match.group(1))])  # type: ignore[union-attr]


class Replica(distributed.MirroredReplicaContext):
    """The context of one of the replicas that are traced one by one."""

    stands_for_all = False

    def __init__(self, strategy: Strategy, replica_id: int) -> None:
        super().__init__(strategy, replica_id)
        self._flow = functions.control_flow_context()
        self._graph = tf.compat.v1.get_default_graph()

    def experimental_logical_device(self, logical_device_id: int) -> AbstractContextManager[Any]:
        """See `VirtualExtended`."""
        extended: Extended = self.strategy.extended
        return extended.experimental_logical_device(logical_device_id)

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

        TensorFlow searches the graph behind a custom gradient for variables, and would refuse the
        other replicas': so the search is stopped at the reduction's inputs.
        """
        native = super().all_reduce if versions.WORKS_OUTSIDE_SCOPE else self._merge_and_reduce
        flat = nests.flatten(value)
        if any(isinstance(leaf, distributed.IndexedSlices) for leaf in flat):
            return native(reduce_op, value, *options, **named_options)

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def reduced(*tensors: Any) -> tuple[Any, ...]:
            names = [getattr(getattr(t, "op", None), "name", "value") for t in tensors]  # of errors
            behind = [tf.stop_gradient(t, n.split("/")[-1]) for t, n in zip(tensors, names)]
            totals = native(reduce_op, behind, *options, **named_options)
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
