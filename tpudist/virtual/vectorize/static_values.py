"""Static values: what tracing knows of an op's outputs, values or shapes.

Gradients ask for shapes by ops (``BroadcastGradientArgs``); TensorFlow itself computes
these while it optimises a graph, which is too late for a batching rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import functions, made_ops
from tpudist.virtual.vectorize import batched_values, ragged_values, symbolic_shapes

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Operation, Tensor


#: Larger constants are left to TensorFlow's optimiser.
_LARGEST = 1024


def known(op: Operation, given: Any) -> Any:
    """The values of the outputs of `op` if it is a small constant, or gives small integers.

    Args:
      op: an op of a trace, without an effect.
      given: the batched value of each input, all uniform.

    Returns:
      One array per output, or None.
    """
    if op.type == "Const":
        return _of_constant(op)
    if not given or not all(_is_small(tensor) for tensor in list(op.inputs) + list(op.outputs)):
        return None
    values = [batched.constant() for batched in given]
    if any(value is None or np.size(value) > _LARGEST for value in values):
        return None
    return made_ops.evaluated(op, values)


def _of_constant(op: Operation) -> list[Any] | None:
    (output,) = op.outputs
    is_number = output.dtype.is_floating or output.dtype.is_integer or output.dtype.is_bool
    if not is_number or op.control_inputs or output.shape.num_elements() > _LARGEST:
        return None
    return [functions.static_value(output)]


def _is_small(tensor: Tensor) -> bool:
    if not (tensor.dtype.is_integer or tensor.dtype == tf.bool):
        return False
    return not tensor.shape.is_fully_defined() or tensor.shape.num_elements() <= _LARGEST


def shapes(op: Operation, inputs: Any) -> Any:
    """The static shapes of the outputs of `op` for one replica.

    Args:
      op: an op of a trace.
      inputs: the batched value of each input.

    Returns:
      One ``TensorShape`` per output: the trace's, or what follows from shapes and
      values that became known while batching.
    """
    found = [tensor.shape for tensor in op.outputs]
    if (
        all(shape.is_fully_defined() for shape in found)
        or functions.calls(op)
        or any(tensor.dtype in (tf.resource, tf.variant) for tensor in op.inputs)
    ):
        return found
    if any(isinstance(value, ragged_values.Ragged) for value in inputs) and all(
        shape.rank and shape[1:].is_fully_defined() for shape in found
    ):
        return found
    with functions.FuncGraph("shapes").as_default():
        held = [_stand_in(tensor, batched) for tensor, batched in zip(op.inputs, inputs)]
        made = functions.copy_op(op, held)
    return [tensor.shape for tensor in made.outputs]


def _stand_in(tensor: Tensor, batched: Any) -> Any:
    if isinstance(batched, symbolic_shapes.Dims):
        return symbolic_shapes.stand_in(batched, tensor.dtype)
    if isinstance(batched, batched_values.Uniform):
        value = batched.constant()
        if value is not None:
            return tf.constant(value, tensor.dtype)
    return tf.compat.v1.placeholder(tensor.dtype, batched.static_shape(tensor))
