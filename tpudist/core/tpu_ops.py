"""The operations below a strategy: start, replicate, sum, on either backend.

Reference: ``tf.compat.v1.tpu``. On the virtual TPU a computation is run by a
strategy of as many replicas as it has inputs.
"""

import os

import tensorflow as tf

from tpudist.core import cluster, contexts, device_loop, placement, strategies
from tpudist.errors import ArgumentError, ContextError
from tpudist.tfcompat import distributed, functions, nests
from tpudist.virtual import collectives, delivery
from tpudist.virtual import system as virtual_system

try:
    from tensorflow.python.tpu import bfloat16, tpu, tpu_function
    from tensorflow.python.tpu.ops import tpu_ops
except ImportError:
    from tensorflow.contrib.tpu.python.ops import tpu_ops
    from tensorflow.contrib.tpu.python.tpu import bfloat16, tpu, tpu_function

bfloat16_scope = bfloat16.bfloat16_scope
_strategies = {}
_last_system = None


class _Cores(strategies.TPUStrategyBaseV1):
    """The replicas of a computation that was started without a strategy."""

    def __init__(self, count):
        resolver = cluster.TPUClusterResolver("virtual:%d" % count)
        strategies.initialize(self, resolver, num_cores=count)


def native(name):
    """TensorFlow's own function of that name."""
    return getattr(tpu, name)


def in_computation():
    """Whether the program of a real TPU is being built."""
    return tpu_function.get_tpu_context().number_of_shards is not None


def virtual_replica():
    """The replica context of a virtual TPU that is current, or None."""
    context = tf.distribute.get_replica_context()
    if context is None or not strategies.is_virtual(context.strategy):
        return None
    return context


def remember(resolver):
    """Notes which TPU the script found last; the operations here mean it."""
    global _last_system
    _last_system = cluster.system_of(resolver)


def _system():
    """The virtual system that is meant here, or None for a real TPU."""
    strategy = tf.distribute.get_strategy()
    if strategies.is_virtual(strategy):
        return strategy.extended.system
    name = os.environ.get(virtual_system.ENVIRONMENT)
    if virtual_system.is_virtual(name):
        return virtual_system.parse(name)
    return _last_system


def initialize_system(embedding_config=None, job=None):
    """An op that starts the TPU system.

    Returns:
      A string tensor, the serialized `Topology`.
    """
    system = _system()
    if system is None:
        return tpu.initialize_system(embedding_config, job)
    return tf.constant(placement.topology(system).serialized())


def shutdown_system(job=None):
    """An op that stops the TPU system; nothing is done for a virtual one."""
    return tpu.shutdown_system(job) if _system() is None else tf.no_op()


def cross_replica_sum(x, group_assignment=None):
    """`x` summed over the replicas, or over those of its group.

    Context: replica, or the computation given to :func:`replicate`.

    Args:
      x: a tensor.
      group_assignment: None, or lists of replica ids: one list per group.

    Raises:
      ContextError: (a RuntimeError) outside of a replica of a virtual TPU.
      ArgumentError: (a ValueError) the groups are not a partition.
    """
    context = virtual_replica()
    if context is None and _system() is None:
        return tpu_ops.cross_replica_sum(x, group_assignment)
    if context is None:
        raise ContextError(
            "cross_replica_sum(%r) was called outside of a replica" % (x,),
            "it sums the replicas' values, and here there is only one",
            "call it in the function that the strategy runs on each replica, "
            "or in the computation given to tpu.replicate",
        )
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
    return _sum_of_group(tf.convert_to_tensor(x), groups)


def _groups(group_assignment, count):
    groups = [[int(i) for i in group] for group in group_assignment]
    if sorted(i for group in groups for i in group) != list(range(count)):
        raise ArgumentError(
            "group_assignment=%s" % (group_assignment,),
            "each of the %d replicas is in one group" % count,
            "such as %s" % [list(range(count))],
        )
    return groups


def _sum_of_group(x, groups):
    @functions.library
    def merge(strategy, value):
        parts = distributed.components(value)
        parts = parts * (strategy.num_replicas_in_sync // len(parts))
        with collectives.named("AllReduce"):
            sums = {i: tf.add_n([parts[j] for j in group]) for group in groups for i in group}
        return distributed.per_replica(
            strategy.extended, [tf.identity(sums[i]) for i in range(len(parts))]
        )

    @tf.custom_gradient
    def total(value):
        context = tf.distribute.get_replica_context()
        return context.merge_call(merge, args=(value,)), total

    return total(x)


def replicate(computation, inputs=None, infeed_queue=None, device_assignment=None, name=None):
    """Runs `computation` once for each list of inputs, on a core each.

    Context: a graph or a ``tf.function``; in a strategy's scope it runs on
    that strategy's replicas.

    Args:
      computation: takes the tensors of one list; its stateful ops all run.
      inputs: one list of tensors per replica; None for one replica without.
      infeed_queue: of a real TPU only.
      device_assignment: a `DeviceAssignment` of as many replicas.
      name: name of the op, on a real TPU.

    Returns:
      A list with one entry per replica: the list of tensors (or the nest)
      that `computation` returned, or an op if it returned no tensor.

    Raises:
      ArgumentError: (a ValueError) lists of different lengths, or an infeed
        queue.
      ContextError: (a RuntimeError) in the scope of another number of
        replicas, or in a replica.
    """
    if _system() is None:
        return tpu.replicate(computation, inputs, infeed_queue, device_assignment, name)
    inputs = [list(row) for row in inputs] if inputs else [[]]
    _check(inputs, infeed_queue, device_assignment)
    return _run(_strategy_of(len(inputs)), computation, inputs)


def rewrite(computation, inputs=None, infeed_queue=None, device_assignment=None, name=None):
    """Runs `computation` on one core; see :func:`replicate`.

    Returns:
      What :func:`replicate` returns for the one replica.
    """
    if _system() is None:
        return tpu.rewrite(computation, inputs, infeed_queue, device_assignment, name)
    return replicate(computation, [inputs or []], infeed_queue, device_assignment, name)[0]


def _check(inputs, infeed_queue, device_assignment):
    if len(set(map(len, inputs))) != 1:
        raise ArgumentError(
            "inputs of %s tensors" % ", ".join(str(len(row)) for row in inputs),
            "every replica runs the same computation",
            "lists of one length, one per replica",
        )
    if infeed_queue is not None:
        raise ArgumentError(
            "infeed_queue=%r" % (infeed_queue,),
            "a virtual TPU has no infeed",
            "inputs=[[...], ...]",
        )
    if device_assignment is not None and (device_assignment.num_replicas != len(inputs)):
        raise ArgumentError(
            "a device assignment of %d replicas for %d lists of inputs"
            % (device_assignment.num_replicas, len(inputs)),
            "each replica needs its own inputs",
            "DeviceAssignment.build(topology, num_replicas=%d)" % len(inputs),
        )


def _strategy_of(count):
    """The strategy whose replicas run a computation of `count` inputs."""
    current = tf.distribute.get_strategy()
    if not strategies.is_virtual(current):
        if count not in _strategies:
            _strategies[count] = _Cores(count)
        return _strategies[count]
    if virtual_replica() is not None or (current.num_replicas_in_sync != count):
        raise ContextError(
            "a computation of %d replicas was started in %s of a strategy of "
            "%d"
            % (
                count,
                "a replica" if virtual_replica() else "the scope",
                current.num_replicas_in_sync,
            ),
            "it runs on the strategy's replicas, which share its variables",
            "one list of inputs per replica, or call it outside of the scope",
        )
    return current


def _run(strategy, computation, inputs):
    def replica(*args):
        return _tensors(computation(*args))

    def step():
        columns = [
            distributed.per_replica(strategy.extended, [tf.convert_to_tensor(x) for x in column])
            for column in zip(*inputs)
        ]
        results = strategy.extended.call_for_each_replica(replica, args=tuple(columns))
        return delivery.spread(strategy, results)

    with strategy.scope():
        results, done = device_loop.run_once(step)
    return results if nests.flatten(results) else [done] * len(inputs)


def _tensors(result):
    """What a computation returned as a list of tensors, or as the nest."""
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
