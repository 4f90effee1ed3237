"""Reads and assigns stacked copies of variables, for all replicas at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual.variables.stacked_copies import PLAIN
from tpudist.virtual.vectorize import batched_values

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Operation, Tensor
    from tpudist.virtual.annotations import BatchedValue


class NeedsHandles(Exception):
    """An op needs the handle of each replica's copy."""


class Handles:
    """The handles of a variable's copies: replica 0's, and that of the rows of the others.

    Args:
      count: number of replicas.
      tensors: the two handles.
    """

    #: How many tensors hold it.
    width = 2

    def __init__(self, count: int, tensors: Sequence[Tensor]) -> None:
        self.count = count
        self._tensors = list(tensors)

    def tensors(self) -> Any:
        """The tensors that hold this batched value."""
        return self._tensors

    def like(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same batched value, held by other tensors."""
        return Handles(self.count, tensors)

    def held(self, tensor: Tensor) -> BatchedValue:
        """The same batched value, in placeholders."""
        return self.like(list(map(functions.placeholder_like, self._tensors)))

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape of a handle."""
        return tensor.shape

    def each(self) -> Any:
        """There is no handle for each replica.

        Raises:
          NeedsHandles: always.
        """
        raise NeedsHandles


def do(op: Operation, given: Any) -> tuple[Any, ...]:
    """Reads or assigns all replicas' copies.

    Args:
      op: an op of the trace.
      given: the batched value of each of its inputs, of which the first is a `Handles`.

    Returns:
      The batched values of its outputs, and the ops that do it.

    Raises:
      NeedsHandles: the op does something else.
    """
    if op.type not in PLAIN:
        raise NeedsHandles
    values = [_parts(value) for value in given[1:]]
    made = [functions.copy_op(op, inputs) for inputs in zip(given[0].tensors(), *values)]
    if not op.outputs:
        return [], made
    first, others = [copy.outputs[0] for copy in made]
    stacked = tf.concat([tf.expand_dims(first, 0), others], 0)
    shape = op.outputs[0].shape.as_list()
    return [batched_values.Batch(given[0].count, shape, stacked=stacked)], made


def _parts(value: Any) -> tuple[Any, ...]:
    """The value of the first replica, and those of the others, stacked."""
    held = value.stacked() if hasattr(value, "stacked") else tf.stack(value.each())
    return held[0], held[1:]
