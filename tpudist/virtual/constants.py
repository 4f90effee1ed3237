"""Makes constants in the current graph: one op per value, however often it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import made_ops

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import DType, Tensor


def constant(value: object, dtype: DType = tf.int32) -> Tensor:
    """A constant in the current graph.

    Args:
      value: numbers, or an array of them.
      dtype: their ``DType``.

    Returns:
      A tensor; the same one for the same value.
    """
    dtype = tf.as_dtype(dtype)
    array = np.array(value, dtype.as_numpy_dtype)
    graph = tf.compat.v1.get_default_graph()
    if not hasattr(graph, "_tpudist_constants"):
        graph._tpudist_constants = {}
    key = (dtype, array.shape, array.tobytes())
    if key not in graph._tpudist_constants:
        with tf.control_dependencies(None):
            graph._tpudist_constants[key] = tf.constant(array, dtype)
    return graph._tpudist_constants[key]


def reshape(tensor: Tensor, shape: Any) -> Tensor:
    """`tensor` under another shape, a list of ints; itself if it has that shape."""
    if tensor.shape.is_fully_defined() and tensor.shape.as_list() == list(shape):
        return tensor
    return made_ops.reshape(tensor, constant(shape))


def repeated(tensor: Tensor, count: int) -> Tensor:
    """`count` times the same tensor, along a new first axis.

    Not by ``tf.stack``: of equal inputs TensorFlow's optimizer (2.8 to 2.21 at least) makes
    copies of output 0 of the op that they come from, whichever of its outputs they are.
    """
    shape = tensor.shape
    static = shape.as_list() if shape.is_fully_defined() else None
    whole = (
        tf.concat([[count], tf.shape(tensor)], 0) if static is None else constant([count] + static)
    )
    return tf.broadcast_to(tensor, whole)
