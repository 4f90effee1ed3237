"""Static values and shapes: the outputs of an op as far as they are known while batching.

Gradients compute with shapes (``BroadcastGradientArgs``). TensorFlow evaluates such ops when it
optimises a graph, which is too late for a batching rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import functions, made_ops
from tpudist.virtual.vectorize.values import batched_values, ragged_values, symbolic_shapes

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Operation, Tensor


#: The most elements of a constant that is evaluated here; larger ones are left to TensorFlow.
_MAX_ELEMENTS = 1024


def constant_outputs(op: Operation, inputs: Any) -> Any:
    """The values of the outputs of `op`, if it is a small constant or computes small integers.

    Args:
      op: an op of a trace, without an effect.
      inputs: its batched inputs, all uniform.

    Returns:
      One array per output, or None.
    """
    if op.type == "Const":
        return _constant_value(op)
    if not inputs or not all(_is_small(tensor) for tensor in list(op.inputs) + list(op.outputs)):
        return None
    values = [batched.constant() for batched in inputs]
    if any(value is None or np.size(value) > _MAX_ELEMENTS for value in values):
        return None
    return made_ops.evaluated(op, values)


def _constant_value(op: Operation) -> list[Any] | None:
    (output,) = op.outputs
    is_number = output.dtype.is_floating or output.dtype.is_integer or output.dtype.is_bool
    if not is_number or op.control_inputs or output.shape.num_elements() > _MAX_ELEMENTS:
        return None
    return [functions.static_value(output)]


def _is_small(tensor: Tensor) -> bool:
    if not (tensor.dtype.is_integer or tensor.dtype == tf.bool):
        return False
    return not tensor.shape.is_fully_defined() or tensor.shape.num_elements() <= _MAX_ELEMENTS


def shapes(op: Operation, inputs: Any) -> Any:
    """The static shapes that the outputs of `op` have in one replica.

    Args:
      op: an op of a trace.
      inputs: its batched inputs.

    Returns:
      One ``TensorShape`` per output: that of the trace, or the one that TensorFlow infers from
      shapes and values that became known while batching.
    """
    traced = [tensor.shape for tensor in op.outputs]
    if (
        all(shape.is_fully_defined() for shape in traced)
        or functions.calls_functions(op)
        or any(tensor.dtype in (tf.resource, tf.variant) for tensor in op.inputs)
    ):
        return traced
    if any(isinstance(value, ragged_values.Ragged) for value in inputs) and all(
        shape.rank and shape[1:].is_fully_defined() for shape in traced
    ):
        return traced
    with functions.FuncGraph("shapes").as_default():
        stand_ins = [_stand_in(tensor, batched) for tensor, batched in zip(op.inputs, inputs)]
        copy = functions.copy_op(op, stand_ins)
    return [tensor.shape for tensor in copy.outputs]


def _stand_in(tensor: Tensor, batched: Any) -> Any:
    """A tensor with the static value and shape of one replica's `tensor`."""
    if isinstance(batched, symbolic_shapes.Dims):
        return symbolic_shapes.stand_in(batched, tensor.dtype)
    if isinstance(batched, batched_values.Uniform):
        value = batched.constant()
        if value is not None:
            return tf.constant(value, tensor.dtype)
    return tf.compat.v1.placeholder(tensor.dtype, batched.static_shape(tensor))
