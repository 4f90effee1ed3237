"""Makes one trace with a symbolic replica id stand for all replicas of a strategy.

While a step is traced for the TPU compiler, the extended object of its strategy has the class
`SymbolicExtended`, and the trace sees the variables of replica 0. Without a TPU, XLA lowers
one collective op to HLO, the sum over all replicas, so all others are built on it, as in
TensorFlow's TPU strategy.
"""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Any, Callable, Iterator

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from tpudist.errors import ArgumentError, CollectiveError
from tpudist.tfcompat import distributed
from tpudist.virtual.extended import VirtualExtended

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import Nest, Tensor

_SUM_NAME = "AllReduce"


def replica_id() -> Tensor:
    """Returns the replica's id, an int32 scalar that only the TPU knows."""
    return gen_xla_ops.xla_replica_id()


@contextlib.contextmanager
def symbolic(strategy: Any) -> Iterator[SymbolicExtended]:
    """Makes one symbolic replica stand for all replicas of a strategy, inside the block.

    Yields the strategy's extended object; a strategy on a real TPU raises an ArgumentError.
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
    extended.sum_keys = itertools.count(1)
    extended.__class__ = SymbolicExtended
    try:
        yield extended
    finally:
        extended.__class__ = kind
        del extended.sum_keys


class SymbolicExtended(VirtualExtended):
    """The ``StrategyExtended`` of one trace that stands for all replicas."""

    splits_variables = False
    annotates_with_ops = True
    sum_keys: Iterator[int]  # each sum of the trace has one

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Nest:
        with SymbolicReplica(self):
            return fn(*args, **(kwargs or {}))

    def _reduce_to(
        self, reduce_op: Any, value: Any, destinations: Any, *unused: Any, **unused_hints: Any
    ) -> Nest:
        if distributed.is_mirrored(value) and (reduce_op == tf.distribute.ReduceOp.MEAN):
            return distributed.components(value)[0]
        if distributed.is_distributed(value):
            value = distributed.components(value)[0]
        if not distributed.is_tensor_like(value) and not isinstance(value, tf.Variable):
            return distributed.reduce_plain(self, reduce_op, value, destinations)
        return self._sum_or_mean(reduce_op, tf.convert_to_tensor(value))

    def _sum_or_mean(self, reduce_op: object, value: tf.Tensor) -> Tensor:
        """Reduces a value; one that is no float is divided after the sum, as it has no fraction."""
        if reduce_op != tf.distribute.ReduceOp.MEAN:
            return self._sum(value)
        if not (value.dtype.is_floating or value.dtype.is_complex):
            return distributed.divide(self._sum(value), self._num_replicas_in_sync)
        return self._sum(value * tf.cast(1.0 / self._num_replicas_in_sync, value.dtype))

    def reduce_along(self, reduce_op: object, value: object, axis: object) -> Tensor:
        """Reduces over replicas and along axes; see `Strategy`. MEAN divides by the examples."""
        value = tf.convert_to_tensor(distributed.components(value)[0])
        total = self._sum(tf.reduce_sum(value, axis=axis))
        if reduce_op != tf.distribute.ReduceOp.MEAN:
            return total
        count = tf.reduce_prod(tf.gather(tf.shape(value), tf.reshape(axis, [-1])))
        return total / tf.cast(self._sum(count), total.dtype)

    def _broadcast_to(self, tensor: object, destinations: object) -> Nest:
        return tensor

    def _gather_to_implementation(
        self, value: Any, destinations: object, axis: int, *unused: Any
    ) -> Tensor:
        """Concatenates the replicas' values, of known shapes: each is put at its own place."""
        value = tf.convert_to_tensor(distributed.components(value)[0])
        count, shape = self._num_replicas_in_sync, value.shape.as_list()
        if count == 1:
            return value
        is_own = tf.equal(tf.range(count), replica_id())
        is_own = tf.broadcast_to(tf.reshape(is_own, [count] + [1] * len(shape)), [count] + shape)
        own = tf.broadcast_to(value, [count] + shape)
        stacked = self._sum(tf.where(is_own, own, tf.zeros_like(own)))
        return tf.concat(tf.unstack(stacked), axis % len(shape))

    def _sum(self, value: tf.Tensor) -> Tensor:
        if not (value.dtype.is_floating or value.dtype.is_integer or value.dtype.is_complex):
            raise CollectiveError(
                "the collective on %r got the dtype %s" % (value.op.name, value.dtype.name),
                "an all-reduce adds numbers",
                "tf.cast(value, tf.int32)",
            )
        if self._num_replicas_in_sync == 1:
            return value
        with tf.name_scope(_SUM_NAME):
            return tf.raw_ops.CollectiveReduceV2(
                input=value,
                group_size=self._num_replicas_in_sync,
                group_key=1,
                instance_key=next(self.sum_keys),
                ordering_token=[],
                merge_op="Add",
                final_op="Id",
            )

    def _update(
        self, var: object, fn: Callable[..., Any], args: object, kwargs: object, group: bool
    ) -> Nest:
        component = distributed.components(var)[0]
        return self._update_once((component,), fn, args, kwargs, group)

    def _update_non_slot(
        self, colocate_with: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool
    ) -> Nest:
        return self._update_once((), fn, args, kwargs, group)

    def _update_once(
        self, first: tuple[Any, ...], fn: Callable[..., Any], args: Any, kwargs: Any, group: bool
    ) -> Nest:
        """Calls an update function with the first arguments and the components of the others."""
        with distributed.update_context(self, 0), tf.name_scope("update_0"):
            result = fn(
                *(first + tuple(distributed.select_mirrored(self, 0, args))),
                **distributed.select_mirrored(self, 0, kwargs),
            )
        return result if group else (result,)


class SymbolicReplica(distributed.ReplicaContext):
    """The replica context of such a trace, in which variables are those of replica 0."""

    #: The id has no value here. The id that TensorFlow uses to pick a variable's
    #: component is 0, and is not this replica's.
    is_symbolic = True

    def __init__(self, extended: SymbolicExtended) -> None:
        super().__init__(extended._container_strategy(), 0)

    @property
    def replica_id_in_sync_group(self) -> Tensor:
        """The replica's id, an int32 scalar that only the TPU knows."""
        return replica_id()

    @property
    def devices(self) -> Sequence[str]:
        """The device of replica 0, by which old variables find a component."""
        return self.strategy.extended.worker_devices[:1]

    def _merge_call(self, merge_fn: Callable[..., Any], args: Any, kwargs: Any) -> Nest:
        with distributed.cross_replica(self.strategy):
            return merge_fn(self.strategy, *args, **kwargs)
