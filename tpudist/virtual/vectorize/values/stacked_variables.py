"""Reads and assigns stacked copies of variables, for all replicas at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual.variables.stacked_copies import PLAIN
from tpudist.virtual.vectorize.values import batched_values

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Operation, Tensor
    from tpudist.virtual.annotations import BatchedValue


class NeedsHandles(Exception):
    """An op needs a handle for each replica's copy, so the copies must be unstacked."""


class Handles:
    """The two handles of stacked copies: replica 0's variable, and the rows of all others.

    Args:
      count: number of replicas.
      tensors: the two handles.
    """

    #: Number of `tensors()`.
    num_tensors = 2

    def __init__(self, count: int, tensors: Sequence[Tensor]) -> None:
        self.count = count
        self._tensors = list(tensors)

    def tensors(self) -> Any:
        """The tensors that it consists of."""
        return self._tensors

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """A batched value of the same layout that consists of `tensors`."""
        return Handles(self.count, tensors)

    def placeholders(self, tensor: Tensor) -> BatchedValue:
        """Placeholders of the same layout."""
        return self.with_tensors(list(map(functions.placeholder_like, self._tensors)))

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape of a handle."""
        return tensor.shape

    def per_replica(self) -> Any:
        """Fails, as there are no handles per replica.

        Raises:
          NeedsHandles: always.
        """
        raise NeedsHandles


def read_or_assign(op: Operation, inputs: Any) -> tuple[Any, ...]:
    """Adds a read or assignment of all replicas' copies.

    Args:
      op: an op of the trace.
      inputs: its batched inputs; the first one is a `Handles`.

    Returns:
      Its batched outputs, and the new ops.

    Raises:
      NeedsHandles: `op` is neither a read nor a plain assignment.
    """
    if op.type not in PLAIN:
        raise NeedsHandles
    values = [_first_and_others(value) for value in inputs[1:]]
    copies = [functions.copy_op(op, own_inputs) for own_inputs in zip(inputs[0].tensors(), *values)]
    if not op.outputs:
        return [], copies
    first, others = [copy.outputs[0] for copy in copies]
    stacked = tf.concat([tf.expand_dims(first, 0), others], 0)
    shape = op.outputs[0].shape.as_list()
    return [batched_values.Batch(inputs[0].count, shape, stacked=stacked)], copies


def _first_and_others(value: Any) -> tuple[Any, ...]:
    """The value of the first replica, and the stacked values of the others."""
    stacked = value.stacked() if hasattr(value, "stacked") else tf.stack(value.per_replica())
    return stacked[0], stacked[1:]
