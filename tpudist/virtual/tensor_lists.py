"""Tensor lists, in which loops keep what they read, write and give their gradients."""

import tensorflow as tf

from tpudist.tfcompat import functions

#: Ops that make a list; input 0 is the shape of its elements.
_MAKERS = ("EmptyTensorList", "TensorListReserve")


def emptied(tensor):
    """The list `tensor`, which was just made, with elements of any shape.

    A placeholder of a loop stays what it is: while the loop is joined a first time, it is
    not known yet what its lists hold; it is joined again with what was found.

    Returns:
      A tensor, or None if the list may have elements.
    """
    if tensor.op.type == "Placeholder":
        return tensor
    if tensor.op.type not in _MAKERS:
        return None
    shape, *others = tensor.op.inputs
    return functions.copy_op(tensor.op, [tf.constant(-1, shape.dtype)] + others).outputs[0]


def each(tensor, count, shape, dtype):
    """The lists of `count` replicas whose stacked elements the list `tensor` has."""
    stacked = tf.raw_ops.TensorListStack(
        input_handle=tensor, element_shape=tf.constant([count] + shape), element_dtype=dtype
    )
    return [
        tf.raw_ops.TensorListFromTensor(
            tensor=part, element_shape=tf.constant(shape, tf.int32, [len(shape)])
        )
        for part in tf.unstack(stacked, count, 1)
    ]
