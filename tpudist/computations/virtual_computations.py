"""The operations below a strategy on the virtual TPU.

A computation runs on a strategy with one replica per list of inputs. Loops are TensorFlow's own,
with the infeed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.backends import strategies
from tpudist.computations import feeds
from tpudist.errors import ArgumentError, ArgumentTypeError, ContextError
from tpudist.strategy import contexts
from tpudist.strategy.base_classes import TPUStrategyBaseV1
from tpudist.system import cluster, placement
from tpudist.tfcompat import distributed, functions, nests, tpu
from tpudist.virtual import device_loop
from tpudist.virtual import feeds as virtual_feeds
from tpudist.virtual.replicas import program
from tpudist.virtual.trace import function_graphs

if TYPE_CHECKING:
    from tpudist.annotations import Fn, Strategy
    from tpudist.tfcompat.annotations import Nest, Operation, Tensor, Value


_strategies: dict[int, Strategy] = {}


class _Cores(TPUStrategyBaseV1):
    """The replicas of a computation that was started without a strategy."""

    def __init__(self, count: int) -> None:
        resolver = cluster.TPUClusterResolver("virtual:%d" % count)
        strategies.initialize(self, resolver, num_cores=count)


class VirtualComputations(feeds.Feeds):
    """The operations of :mod:`tpudist.contrib.tpu`, which documents each, on a virtual TPU."""

    def __init__(self, system: object) -> None:
        self._system = system

    def initialize_system(self, unused_embedding_config: object, unused_job: str | None) -> Tensor:
        """The serialized `Topology`; when it is run, the infeed and outfeed are emptied."""
        with tf.control_dependencies([virtual_feeds.clear()]):
            return tf.constant(placement.topology(self._system).serialized())

    def shutdown_system(self, unused_job: str | None) -> Operation:
        """No operation."""
        return tf.no_op()

    def cross_replica_sum(self, x: object, group_assignment: object) -> Tensor:
        """`x` summed over the replicas, or over those of its group."""
        context = strategies.virtual_replica()
        if context is None:
            raise ContextError(
                "cross_replica_sum(%r) was called outside of a replica" % (x,),
                "it sums the replicas' values, and here there is only one",
                "call it in the function that the strategy runs on each replica, "
                "or in the computation given to tpu.replicate",
            )
        context.strategy.extended.sums_replicas = True
        if group_assignment is None:
            return context.all_reduce(tf.distribute.ReduceOp.SUM, x)
        groups = _groups(group_assignment, context.num_replicas_in_sync)
        if len(groups) == 1:
            return context.all_reduce(tf.distribute.ReduceOp.SUM, x)
        if contexts.is_symbolic(context):
            raise ArgumentError(
                "group_assignment=%s" % (group_assignment,),
                "sums over groups cannot be lowered to HLO without a TPU",
                "group_assignment=None while it is compiled",
            )
        if len(distributed.local_replicas(context.strategy.extended)) < sum(map(len, groups)):
            raise ArgumentError(
                "group_assignment=%s on workers of a cluster" % (group_assignment,),
                "sums over groups of replicas need the values of all in one process",
                "group_assignment=None, or virtual:%d on one machine" % sum(map(len, groups)),
            )
        return _sum_of_group(tf.convert_to_tensor(x), groups)

    def replicate(
        self,
        computation: Fn,
        inputs: Any,
        infeed_queue: Any,
        device_assignment: object,
        unused_name: str | None,
    ) -> list[Any]:
        """Runs `computation` once for each list of inputs."""
        inputs = [list(row) for row in inputs] if inputs else [[]]
        _check(inputs, infeed_queue, device_assignment)
        if infeed_queue is not None:
            infeed_queue.set_number_of_shards(len(inputs))
        return _run(_strategy_of(len(inputs)), computation, inputs, infeed_queue)

    def rewrite(
        self,
        computation: Fn,
        inputs: object,
        infeed_queue: object,
        device_assignment: object,
        name: str | None,
    ) -> Nest:
        """Runs `computation` on one core."""
        return self.replicate(computation, [inputs or []], infeed_queue, device_assignment, name)[0]

    def shard(
        self,
        computation: Fn,
        inputs: Any,
        num_shards: int,
        input_shard_axes: Any,
        outputs_from_all_shards: Any,
        output_shard_axes: Any,
        *options: Any,
    ) -> list[Any]:
        """Runs `computation` on each part of the inputs, and concatenates its outputs."""
        rows = _split_inputs(inputs, num_shards, input_shard_axes)
        outputs = self.replicate(computation, rows, *options)
        return _concatenated_outputs(outputs, outputs_from_all_shards, output_shard_axes)

    def batch_parallel(
        self, computation: Fn, inputs: object, num_shards: int, *options: Any
    ) -> list[Any]:
        """:meth:`shard` along dimension 0 of all inputs and outputs."""
        return self.shard(computation, inputs, num_shards, None, True, None, *options)

    def repeat(self, n: Any, body: Fn, inputs: Any, infeed_queue: Any, name: str | None) -> Nest:
        """Runs `body` `n` times."""
        return tpu.Computations.repeat(n, _fed(body, infeed_queue), inputs, None, name)

    def while_loop(
        self, condition: Fn, body: Fn, inputs: object, infeed_queue: object, name: str | None
    ) -> Any:
        """Runs `body` while `condition` holds."""
        return tpu.Computations.while_loop(condition, _fed(body, infeed_queue), inputs, None, name)


def _fed(body: Fn, infeed_queue: Any) -> Fn:
    """`body`, which also takes a core's tensors of `infeed_queue`, if there is one."""
    if infeed_queue is None:
        return body
    context = strategies.virtual_replica()
    if context is not None:
        infeed_queue.set_number_of_shards(context.num_replicas_in_sync)
    return lambda *values: body(*values, *infeed_queue.generate_dequeue_op())


def _groups(group_assignment: Any, count: int) -> list[list[int]]:
    groups = [[int(i) for i in group] for group in group_assignment]
    if sorted(i for group in groups for i in group) != list(range(count)):
        raise ArgumentError(
            "group_assignment=%s" % (group_assignment,),
            "each of the %d replicas is in one group" % count,
            "such as %s" % [list(range(count))],
        )
    return groups


def _sum_of_group(x: object, groups: list[list[int]]) -> Tensor:
    @functions.library
    def merge(strategy: Strategy, value: object) -> Value:
        parts = distributed.components(value)
        parts = parts * (strategy.num_replicas_in_sync // len(parts))
        with function_graphs.named("AllReduce"):
            sums = {i: tf.add_n([parts[j] for j in group]) for group in groups for i in group}
        return distributed.per_replica(
            strategy.extended, [tf.identity(sums[i]) for i in range(len(parts))]
        )

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def total(value: object) -> tuple[Any, ...]:
        context = tf.distribute.get_replica_context()
        return context.merge_call(merge, args=(value,)), total

    return total(x)


def _check(inputs: Any, infeed_queue: object, device_assignment: Any) -> None:
    if len(set(map(len, inputs))) != 1:
        raise ArgumentError(
            "inputs of %s tensors" % ", ".join(str(len(row)) for row in inputs),
            "every replica runs the same computation",
            "lists of one length, one per replica",
        )
    if infeed_queue is not None and not isinstance(infeed_queue, tpu.InfeedQueue):
        raise ArgumentTypeError(
            "infeed_queue=%r" % (infeed_queue,),
            "each replica takes its input from it",
            "tf.contrib.tpu.InfeedQueue(number_of_tuple_elements)",
        )
    if device_assignment is not None and (device_assignment.num_replicas != len(inputs)):
        raise ArgumentError(
            "a device assignment of %d replicas for %d lists of inputs"
            % (device_assignment.num_replicas, len(inputs)),
            "each replica needs its own inputs",
            "DeviceAssignment.build(topology, num_replicas=%d)" % len(inputs),
        )


def _strategy_of(count: int) -> Strategy:
    """The strategy whose replicas run a computation of `count` inputs."""
    current = tf.distribute.get_strategy()
    if strategies.backend_of(current).system is None:
        if count not in _strategies:
            _strategies[count] = _Cores(count)
        return _strategies[count]
    if strategies.virtual_replica() is not None or (current.num_replicas_in_sync != count):
        raise ContextError(
            "a computation of %d replicas was started in %s of a strategy of "
            "%d"
            % (
                count,
                "a replica" if strategies.virtual_replica() else "the scope",
                current.num_replicas_in_sync,
            ),
            "it runs on the strategy's replicas, which share its variables",
            "one list of inputs per replica, or call it outside of the scope",
        )
    return current


def _run(strategy: Strategy, computation: Fn, inputs: Any, infeed_queue: Any) -> list[Any]:
    def replica(*args: Any) -> Nest:
        fed = [] if infeed_queue is None else list(infeed_queue.generate_dequeue_op())
        return _tensors(computation(*(list(args) + fed)))

    def step() -> list[Any]:
        columns = [
            distributed.per_replica(strategy.extended, [tf.convert_to_tensor(x) for x in column])
            for column in zip(*inputs)
        ]
        results = strategy.extended.call_for_each_replica(replica, args=tuple(columns))
        return program.spread(strategy, results)

    strategy.extended.sums_replicas = False
    with strategy.scope():
        results, done = device_loop.run_once(step)
    if strategy.extended.sums_replicas:
        tpu.show_sum()
    return results if nests.flatten(results) else [done] * len(inputs)


def _tensors(result: object) -> Nest:
    """The results of a computation, as a list or as its nest of tensors."""
    if result is None or isinstance(result, tf.Operation):
        return []
    if not nests.is_nested(result):
        return [tf.convert_to_tensor(result)]
    if isinstance(result, (list, tuple)) and not any(nests.is_nested(leaf) for leaf in result):
        return [
            tf.convert_to_tensor(leaf)
            for leaf in result
            if leaf is not None and not isinstance(leaf, tf.Operation)
        ]
    return nests.map_structure(tf.convert_to_tensor, result)


def _split_inputs(inputs: object, count: int, axes: Sequence[int] | None) -> list[list[Any]]:
    """The inputs of each of `count` parts, split along `axes`; None is 0 for all."""
    if count <= 0:
        raise ArgumentError(
            "num_shards=%r" % (count,), "each part runs on a core", "num_shards=1 or more"
        )
    if inputs is not None and not isinstance(inputs, list):
        raise ArgumentTypeError(
            "inputs=%.60r" % (inputs,), "each input is split for itself", "inputs=[tensor, ...]"
        )
    tensors = [tf.convert_to_tensor(each) for each in inputs or []]
    chosen = _one_each("input_shard_axes", axes, len(tensors), 0)
    columns = [tf.split(x, count, axis=axis) for x, axis in zip(tensors, chosen)]
    return [[column[i] for column in columns] for i in range(count)]


def _concatenated_outputs(
    outputs: list[Any], from_all: bool | Sequence[bool], axes: Sequence[int] | None
) -> list[Any]:
    """The outputs of all parts, each concatenated to one along its axis; None is 0 for all.

    Where `from_all`, for all or for each, is False, an output is the first part's.
    """
    if not isinstance(outputs[0], (list, tuple)):
        return [outputs[0]]
    count = len(outputs[0])
    chosen_axes = _one_each("output_shard_axes", axes, count, 0)
    choices = None if isinstance(from_all, bool) else from_all
    chosen_from_all = _one_each("outputs_from_all_shards", choices, count, from_all)
    return [
        _concatenated(parts, axis) if all_parts else parts[0]
        for parts, axis, all_parts in zip(zip(*outputs), chosen_axes, chosen_from_all)
    ]


def _one_each(name: str, given: Any, count: int, default: object) -> list[Any]:
    if given is None:
        return [default] * count
    if len(given) != count:
        raise ArgumentError(
            "%s=%r for %d tensors" % (name, given, count),
            "there is one for each tensor",
            "%s=%r" % (name, [default] * count),
        )
    return list(given)


def _concatenated(parts: Sequence[Any], axis: int) -> Tensor:
    scalars = parts[0].shape.ndims == 0
    return tf.stack(list(parts)) if scalars else tf.concat(list(parts), axis=axis)
