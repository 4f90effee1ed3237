"""Reads and assigns stacked copies of variables, for all replicas at once."""

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual.variables.stacked_copies import PLAIN
from tpudist.virtual.vectorize import batched_values


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

    def __init__(self, count, tensors):
        self.count = count
        self._tensors = list(tensors)

    def tensors(self):
        """The tensors that hold this batched value."""
        return self._tensors

    def like(self, tensors):
        """The same batched value, held by other tensors."""
        return Handles(self.count, tensors)

    def held(self, tensor):
        """The same batched value, in placeholders."""
        return self.like(map(functions.placeholder_like, self._tensors))

    def static_shape(self, tensor):
        """The static shape of a handle."""
        return tensor.shape

    def each(self):
        """There is no handle for each replica.

        Raises:
          NeedsHandles: always.
        """
        raise NeedsHandles


def do(op, given):
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


def _parts(value):
    """The value of the first replica, and those of the others, stacked."""
    held = value.stacked() if hasattr(value, "stacked") else tf.stack(value.each())
    return held[0], held[1:]
