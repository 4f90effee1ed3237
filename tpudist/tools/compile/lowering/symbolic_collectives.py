"""Collectives of one trace that stands for every replica.

Without a TPU, XLA lowers exactly one collective op to HLO: the sum over all
replicas. As in TensorFlow's TPU strategy, a mean is a sum of scaled values, and a
gather is a sum of values that each replica puts at its own place.
"""

import itertools

import tensorflow as tf

from tpudist.errors import CollectiveError
from tpudist.tfcompat import distributed, tpu, versions

if versions.TRACE_ONCE:
    from tensorflow.compiler.tf2xla.ops import gen_xla_ops

#: Name of the constant for the replica's id on releases whose variables need a
#: static id; the release that lowers the graph replaces it by the op.
REPLICA_ID = "tpudist_replica_id"

_NAME = "AllReduce"


def replica_id():
    """Which replica this is, an int32 scalar that only the TPU knows."""
    if versions.TRACE_ONCE:
        return gen_xla_ops.xla_replica_id()
    return tf.constant(0, tf.int32, [], REPLICA_ID)


class Sums:
    """Sums over replicas, and what is made of them.

    Args:
      count: number of replicas.
    """

    def __init__(self, count):
        self._count = count
        self._keys = itertools.count(1)

    def reduce(self, reduce_op, value):
        """`value` of this replica, summed or averaged over all of them.

        Context: cross-replica, while one replica is traced.

        Args:
          reduce_op: ``tf.distribute.ReduceOp.SUM`` or ``MEAN``.
          value: a tensor, variable or ``IndexedSlices``; the latter is made
            dense first, as TensorFlow's TPU strategy does.

        Returns:
          A tensor.

        Raises:
          CollectiveError: (a ValueError) no TPU adds values of that dtype.
        """
        value = tf.convert_to_tensor(value)
        if reduce_op != tf.distribute.ReduceOp.MEAN:
            return self._sum(value)
        if not (value.dtype.is_floating or value.dtype.is_complex):
            return distributed.divide(self._sum(value), self._count)
        return self._sum(value * tf.cast(1.0 / self._count, value.dtype))

    def reduce_along(self, reduce_op, value, axis):
        """The same, over the replicas and along `axis` of `value`.

        Args:
          reduce_op: SUM or MEAN, which divides by the number of examples.
          value: a tensor.
          axis: the batch dimension, an integer or several.
        """
        total = self._sum(tf.reduce_sum(value, axis=axis))
        if reduce_op != tf.distribute.ReduceOp.MEAN:
            return total
        axes = tf.reshape(axis, [-1])
        count = tf.reduce_prod(tf.gather(tf.shape(value), axes))
        return total / tf.cast(self._sum(count), total.dtype)

    def gather(self, value, axis):
        """The replicas' values, concatenated along `axis`.

        Args:
          value: a tensor of known shape.
          axis: an integer.
        """
        if self._count == 1:
            return value
        axis = axis % value.shape.rank
        mine = tf.reshape(
            tf.equal(tf.range(self._count), replica_id()), [self._count] + [1] * value.shape.rank
        )
        placed = self._sum(
            tf.where(
                tf.broadcast_to(mine, [self._count] + value.shape.as_list()),
                tf.broadcast_to(value, [self._count] + value.shape.as_list()),
                tf.zeros([self._count] + value.shape.as_list(), value.dtype),
            )
        )
        return tf.concat(tf.unstack(placed), axis)

    def _sum(self, value):
        if not (value.dtype.is_floating or value.dtype.is_integer or value.dtype.is_complex):
            raise CollectiveError(
                "the collective on %r got the dtype %s" % (value.op.name, value.dtype.name),
                "an all-reduce adds numbers",
                "tf.cast(value, tf.int32)",
            )
        if self._count == 1:
            return value
        with tf.name_scope(_NAME):
            return self._op(value)

    def _op(self, value):
        if not versions.LOWERS_TO_HLO:
            return tpu.cross_replica_sum(value, [list(range(self._count))])
        return tf.raw_ops.CollectiveReduceV2(
            input=value,
            group_size=self._count,
            group_key=1,
            instance_key=next(self._keys),
            ordering_token=[],
            merge_op="Add",
            final_op="Id",
        )
