"""Rules for gathers and scatters, whose places each replica chooses.

A place that is out of bounds stays so: no replica reads or writes what is another's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.virtual import constants
from tpudist.virtual.vectorize import batched_values
from tpudist.virtual.vectorize.rules.node import rule

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import DType
    from tpudist.virtual.vectorize.rules.node import Node


#: The most axes that a place has for the kernels that scatter.
_DEPTH = 7


@rule("GatherV2", "ResourceGather")
def gather(node: Node) -> Any:
    """Slices of a table, as in an embedding, or of what each replica has."""
    axis, several = _axis(node), node.op.get_attr("batch_dims")
    if axis is None:
        return None
    if node.is_uniform(0) and node.is_batch(1) and not several:
        return _of_a_table(node, axis)
    if node.op.type == "ResourceGather":
        return None
    several += len(node.input_shape(1)) * (several < 0)
    # Kernels of 1.15 want places to have an axis more than those they share with the table.
    places = constants.reshape(node.inputs[1].stacked(), [node.count] + node.input_shape(1) + [1])
    found = _gathered(node.inputs[0].stacked(), places, axis + 1, several + 1)
    return node.found(constants.reshape(found, [node.count] + node.shape()))


def _axis(node: Node) -> Any:
    """The axis that is gathered from, counted from the front; None if only the run knows."""
    if node.op.type == "ResourceGather":
        return 0
    axis = node.constant(2)
    return None if axis is None else int(axis) % len(node.input_shape(0))


def _of_a_table(node: Node, axis: int) -> Any:
    table, places = node.inputs[:2]
    if axis:
        found = _gathered(table.value, places.stacked(), axis, 0)
        others = [each for each in range(len(node.shape()) + 1) if each != axis]
        return node.found(tf.transpose(found, [axis] + others))
    rest = [value.value for value in node.inputs[2:]]
    form = "rows" if node.input_shape(1) else "stacked"
    return node.formed(form, table.value, places.held_as(form), *rest)


def _gathered(table: Any, places: Any, axis: int, several: int) -> Any:
    axis = constants.constant(axis)
    return tf.raw_ops.GatherV2(params=table, indices=places, axis=axis, batch_dims=several)


@rule("UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum")
def segments(node: Node) -> list[Any] | None:
    """Rows that are put together, as in the gradient of an embedding."""
    if not (node.is_uniform(2) and node.input_shape(1)):
        return None
    values, ids, number = node.inputs
    if node.summed and node.op.type == "UnsortedSegmentSum":
        return [batched_values.ReplicaSum(node.make(values.rows(), ids.rows(), number.value)[0])]
    first = node.shape()[0]
    if node.count * first > min(tensor.dtype.max for tensor in node.op.inputs[1:]):
        return None
    mine = constants.reshape(ids.stacked(), [node.count, -1])
    of_all = mine + first * _replicas(node, 1, mine.dtype)
    beyond = constants.constant(node.count * first, mine.dtype)
    where = tf.compat.v2.where  # the one of TensorFlow 1 does not broadcast
    places = where(mine < 0, mine, where(mine < first, of_all, beyond))
    places = constants.reshape(places, [node.count] + node.input_shape(1))
    number = constants.constant(node.count * first, node.op.inputs[2].dtype)
    (made,) = node.make(values.stacked(), places, number)
    return [batched_values.Batch(node.count, node.shape(), rows=made)]


@rule("ScatterNd")
def scatter(node: Node) -> Any:
    """Scatters into zeros: values that are put, or added, at places."""
    if not node.is_uniform(2) or not _has_places(node, 0):
        return None
    places, values, shape = node.inputs
    whole = constants.constant([node.count] + node.shape(), node.op.inputs[2].dtype)
    return node.stacked(_of_replicas(node, places), values.stacked(), whole)


@rule(
    "TensorScatterAdd",
    "TensorScatterMax",
    "TensorScatterMin",
    "TensorScatterSub",
    "TensorScatterUpdate",
)
def scatter_into(node: Node) -> Any:
    """Scatters into an array: values that are put at places, or combined with what is there."""
    if not _has_places(node, 1):
        return None
    array, places, values = node.inputs
    return node.stacked(array.stacked(), _of_replicas(node, places), values.stacked())


def _has_places(node: Node, index: int) -> bool:
    """Whether an input has places, and their kernel takes one axis more."""
    shape = node.input_shape(index)
    return bool(shape) and 0 < shape[-1] < _DEPTH


def _of_replicas(node: Node, places: Any) -> Any:
    """The places of all replicas, each with its replica before it."""
    held = places.stacked()
    shape = held.shape.as_list()
    replicas = _replicas(node, len(shape) - 1, held.dtype)
    return tf.concat([tf.broadcast_to(replicas, shape[:-1] + [1]), held], -1)


def _replicas(node: Node, rank: int, dtype: DType) -> Any:
    """The number of each replica, along a first axis before `rank` axes of size 1."""
    return constants.reshape(tf.range(node.count, dtype=dtype), [-1] + [1] * rank)
