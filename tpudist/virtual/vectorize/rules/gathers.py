"""Rules for gathers and scatters with indices that differ between replicas.

An index that is out of bounds in a replica stays out of bounds: it never becomes that of an
element of another replica.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.tfcompat import made_ops
from tpudist.virtual.vectorize.rules.node import rule
from tpudist.virtual.vectorize.values import batched_values

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import DType, Tensor
    from tpudist.virtual.vectorize.rules.node import Node
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


#: The most numbers of an index, with one for the replica, that kernels of scatters take.
_MAX_INDEX_DEPTH = 7


@rule("GatherV2", "ResourceGather")
def gather(node: Node) -> Sequence[BatchedValue] | None:
    """Gathers slices of a table, as in an embedding, or of each replica's own values."""
    batch_dims = node.op.get_attr("batch_dims")
    axis = 0 if node.op.type == "ResourceGather" else node.constant(2)
    if axis is None:
        return None
    axis = int(axis) % len(node.input_shape(0)) if axis else 0
    if node.is_uniform(0) and node.is_batch(1) and not batch_dims:
        table, indices = node.inputs[:2]
        if axis:
            gathered = _gather(table.value, indices.stacked(), axis, 0)
            others = [other for other in range(len(node.shape()) + 1) if other != axis]
            return node.from_stacked(tf.transpose(gathered, [axis] + others))
        rest = [value.value for value in node.inputs[2:]]
        form = "rows" if node.input_shape(1) else "stacked"
        return node.on_form(form, table.value, indices.in_form(form), *rest)
    if node.op.type == "ResourceGather":
        return None
    batch_dims += len(node.input_shape(1)) * (batch_dims < 0)
    # Kernels of 1.15 need indices with an axis after the batch axes.
    indices = made_ops.reshape(node.inputs[1].stacked(), [node.count] + node.input_shape(1) + [1])
    gathered = _gather(node.inputs[0].stacked(), indices, axis + 1, batch_dims + 1)
    return node.from_stacked(made_ops.reshape(gathered, [node.count] + node.shape()))


def _gather(table: Any, indices: object, axis: int, batch_dims: int) -> Tensor:
    along = made_ops.constant(axis)
    return tf.raw_ops.GatherV2(params=table, indices=indices, axis=along, batch_dims=batch_dims)


@rule("UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum")
def segment_reduction(node: Node) -> list[Any] | None:
    """Combines rows of one segment, as in the gradient of an embedding."""
    if not (node.is_uniform(2) and node.input_shape(1)):
        return None
    values, ids, number = node.inputs
    if node.summed and node.op.type == "UnsortedSegmentSum":
        return [batched_values.ReplicaSum(node.add_op(values.rows(), ids.rows(), number.value)[0])]
    first = node.shape()[0]
    if node.count * first > min(tensor.dtype.max for tensor in node.op.inputs[1:]):
        return None
    own_ids = made_ops.reshape(ids.stacked(), [node.count, -1])
    shifted_ids = own_ids + first * _replica_indices(node, 1, own_ids.dtype)
    out_of_bounds = made_ops.constant(node.count * first, own_ids.dtype)
    where = tf.compat.v2.where  # the one of TensorFlow 1 does not broadcast
    all_ids = where(own_ids < 0, own_ids, where(own_ids < first, shifted_ids, out_of_bounds))
    all_ids = made_ops.reshape(all_ids, [node.count] + node.input_shape(1))
    number = made_ops.constant(node.count * first, node.op.inputs[2].dtype)
    (combined,) = node.add_op(values.stacked(), all_ids, number)
    return [batched_values.Batch(node.count, node.shape(), rows=combined)]


@rule("ScatterNd")
def scatter(node: Node) -> Sequence[BatchedValue] | None:
    """Scatters values into zeros."""
    if not node.is_uniform(2) or not _has_indices(node, 0):
        return None
    indices, values, shape = node.inputs
    stacked_shape = made_ops.constant([node.count] + node.shape(), node.op.inputs[2].dtype)
    return node.on_stacked(_with_replica_index(node, indices), values.stacked(), stacked_shape)


@rule(*["TensorScatter" + how for how in ("Add", "Max", "Min", "Sub", "Update")])
def scatter_into(node: Node) -> Sequence[BatchedValue] | None:
    """Scatters values into an array, or combines them with its elements."""
    if not _has_indices(node, 1):
        return None
    array, indices, values = node.inputs
    return node.on_stacked(array.stacked(), _with_replica_index(node, indices), values.stacked())


def _has_indices(node: Node, index: int) -> bool:
    """Whether an input has indices to which the kernel takes one number more."""
    shape = node.input_shape(index)
    return bool(shape) and 0 < shape[-1] < _MAX_INDEX_DEPTH


def _with_replica_index(node: Node, indices: Any) -> Tensor:
    """The indices of all replicas, with the number of the replica before each."""
    stacked = indices.stacked()
    shape = stacked.shape.as_list()
    replicas = _replica_indices(node, len(shape) - 1, stacked.dtype)
    return tf.concat([tf.broadcast_to(replicas, shape[:-1] + [1]), stacked], -1)


def _replica_indices(node: Node, rank: int, dtype: DType) -> Tensor:
    """The number of each replica, along a first axis before `rank` axes of size 1."""
    return made_ops.reshape(tf.range(node.count, dtype=dtype), [-1] + [1] * rank)
