"""Layouts of batched values: comparing them, and converting values from one to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.tfcompat import graphs
from tpudist.virtual.vectorize.values import ragged_values, variants
from tpudist.virtual.vectorize.values.batched_values import (
    Batch,
    NotBatchable,
    PerReplicaTensors,
    ReplicaSum,
    Uniform,
)

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Tensor
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue
    from tpudist.virtual.vectorize.values.ragged_values import Sizes


def from_replicas(
    tensors: Sequence[Tensor], tensor: Tensor, sizes: Sizes | None = None
) -> BatchedValue:
    """The batched value of N tensors that stand for `tensor` of the trace, of `sizes` if known."""
    if all(part is tensors[0] for part in tensors):
        return Uniform(len(tensors), tensors[0])
    if tensor.dtype in (tf.resource, tf.variant):
        return PerReplicaTensors(len(tensors), tensors)
    for part in tensors:
        if tensor.shape.is_fully_defined() and part.shape.is_compatible_with(tensor.shape):
            part.set_shape(tensor.shape)  # the trace may have been given it
    if any(
        not part.shape.is_fully_defined() or part.shape.as_list() != tensors[0].shape.as_list()
        for part in tensors
    ):
        return ragged_values.from_replicas(tensors, sizes) or PerReplicaTensors(
            len(tensors), tensors
        )
    rows = graphs.divided(tensors)
    return Batch(len(tensors), tensors[0].shape.as_list(), rows, parts=list(tensors))


def common_layout(one: Any, other: Any) -> BatchedValue:
    """A batched value whose layout both can be converted to."""
    if isinstance(one, Uniform):
        return other
    if isinstance(other, Uniform) or same_layout(one, other):
        return one
    if isinstance(one, ReplicaSum) or isinstance(other, ReplicaSum):
        return one if isinstance(one, ReplicaSum) else other
    if isinstance(one, variants.StackedList) or isinstance(other, variants.StackedList):
        raise NotBatchable("lists of tensors of several shapes")
    return PerReplicaTensors(one.count)


def same_layout(one: Any, other: Any) -> bool:
    """Whether two batched values have the same layout."""
    classes = [value.layout_class or type(value) for value in (one, other)]
    return classes[0] is classes[1] and one.layout_key == other.layout_key


def with_layout(batched: Any, layout: Any) -> BatchedValue:
    """`batched`, converted to the layout of `layout`."""
    if same_layout(batched, layout):
        return batched
    if isinstance(layout, variants.Optionals):
        return variants.optional_with_layout(batched, layout)
    if isinstance(layout, ReplicaSum):
        return ReplicaSum(batched.total())
    if isinstance(layout, PerReplicaTensors):
        return PerReplicaTensors(layout.count, batched.per_replica())
    if isinstance(layout, variants.PaddedList):
        raise NotBatchable("lists of different lengths")
    if isinstance(layout, variants.StackedList):
        return layout.with_tensors([variants.of_any_shape(batched.value)])
    if isinstance(batched, Uniform):
        return Batch(layout.count, layout.shape, stacked=batched.stacked())
    return Batch(layout.count, layout.shape, parts=batched.per_replica())
