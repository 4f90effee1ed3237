"""One replica, traced with a symbolic id, in place of all replicas of a step to lower.

While a step is traced for the TPU compiler, the extended object of its strategy
has the class `SymbolicExtended`: all replicas are one trace, as on a real TPU, and
collectives are ops. It stays the same object, because open scopes refer to it.
Variables do not change; the trace sees the component of replica 0.
"""

import contextlib

import tensorflow as tf

from tpudist.errors import ArgumentError
from tpudist.tfcompat import distributed, nests, versions
from tpudist.tools.compile.lowering import symbolic_collectives
from tpudist.virtual.extended import VirtualExtended


@contextlib.contextmanager
def symbolic(strategy):
    """Inside the block, one symbolic replica stands for all replicas of `strategy`.

    Args:
      strategy: a strategy on the virtual TPU.

    Raises:
      ArgumentError: (a ValueError) it is on a real TPU.
    """
    extended = strategy.extended
    kind = type(extended)
    if not issubclass(kind, VirtualExtended):
        raise ArgumentError(
            "compile with %r" % strategy,
            "its variables are on a real TPU, which compiles for itself",
            "a strategy on TPUClusterResolver(tpu='virtual:8'), or "
            "TPUDIST_TPU=virtual:8 in the environment",
        )
    extended.sums = symbolic_collectives.Sums(extended._num_replicas_in_sync)
    extended.__class__ = SymbolicExtended
    try:
        yield extended
    finally:
        extended.__class__ = kind
        extended.sums = None


class SymbolicExtended(VirtualExtended):
    """``StrategyExtended`` of one trace that stands for every replica.

    Attributes:
      sums: the `symbolic_collectives.Sums` of the trace.
    """

    splits_variables = False
    annotates_with_ops = True

    def _call_for_each_replica(self, fn, args, kwargs):
        with SymbolicReplica(self):
            return fn(*args, **(kwargs or {}))

    def _reduce_to(self, reduce_op, value, destinations, *unused_options, **unused_hints):
        if distributed.is_mirrored(value) and (reduce_op == tf.distribute.ReduceOp.MEAN):
            return distributed.components(value)[0]
        if distributed.is_distributed(value):
            value = distributed.components(value)[0]
        if not distributed.is_tensor_like(value) and not isinstance(value, tf.Variable):
            return distributed.reduce_plain(self, reduce_op, value, destinations)
        return self.sums.reduce(reduce_op, value)

    def reduce_along(self, reduce_op, value, axis):
        """`value` reduced over replicas and along `axis`; see `Strategy`."""
        return self.sums.reduce_along(
            reduce_op, tf.convert_to_tensor(distributed.components(value)[0]), axis
        )

    def _broadcast_to(self, tensor, destinations):
        return tensor

    def _gather_to_implementation(self, value, destinations, axis, *unused):
        return self.sums.gather(tf.convert_to_tensor(distributed.components(value)[0]), axis)

    def _update(self, var, fn, args, kwargs, group):
        part = distributed.components(var)[0]
        return self._update_once((part,), fn, args, kwargs, group)

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        return self._update_once((), fn, args, kwargs, group)

    def _update_once(self, part, fn, args, kwargs, group):
        with distributed.update_context(self, 0), tf.name_scope("update_0"):
            result = fn(
                *(part + tuple(distributed.select_mirrored(self, 0, args))),
                **distributed.select_mirrored(self, 0, kwargs),
            )
        return result if group else (result,)


class SymbolicReplica(distributed.ReplicaContext):
    """The replica context of such a trace: variables see replica 0."""

    #: The id has no value here. The id that TensorFlow uses to pick a variable's
    #: component is 0, and is not this replica's.
    is_symbolic = True

    def __init__(self, extended):
        super().__init__(extended._container_strategy(), 0)

    @property
    def replica_id_in_sync_group(self):
        """The replica's id, an int32 scalar that only the TPU knows."""
        return symbolic_collectives.replica_id()

    @property
    def devices(self):
        """The device of replica 0: old variables find a component by it."""
        return self.strategy.extended.worker_devices[:1]

    def all_reduce(self, reduce_op, value, *options, **named_options):
        """Sums or averages a nest over the replicas; see ``ReplicaContext``."""
        if versions.HAS_ALL_REDUCE:
            return super().all_reduce(reduce_op, value, *options, **named_options)
        sums = self.strategy.extended.sums
        return nests.map_structure(lambda leaf: sums.reduce(reduce_op, leaf), value)

    def _merge_call(self, merge_fn, args, kwargs):
        with distributed.cross_replica(self.strategy):
            return merge_fn(self.strategy, *args, **kwargs)
