"""Batched tensor lists, which loops read, write and accumulate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual.identity_map import IdentityMap

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import DType, Graph, Tensor


class NotBatchable(Exception):
    """An op cannot be batched; it, or the op that calls its function, is copied per replica."""


#: Ops that return a new list; input 0 is the shape of its elements.
_MAKERS = ("EmptyTensorList", "TensorListReserve")


def of_any_shape(tensor: Tensor) -> Any:
    """A list like `tensor`, a new one, for elements of any shape.

    For an input of a loop it is a placeholder that is never fed: when the loop is batched for the
    first time, it is not known whether replicas put different elements into the list. The loop
    is batched again with the layout that is known then; see :func:`check_fed`.

    Returns:
      A tensor, or None if the list may have elements already.
    """
    if tensor.op.type == "Placeholder":
        return tf.compat.v1.placeholder(tf.variant, [])
    if tensor.op.type not in _MAKERS:
        return None
    shape, *others = tensor.op.inputs
    return functions.copy_op(tensor.op, [tf.constant(-1, shape.dtype)] + others).outputs[0]


def check_fed(graph: Graph) -> None:
    """Checks that a finished FuncGraph has no placeholder that is never fed.

    Raises:
      NotBatchable: there is one, from :func:`of_any_shape`.
    """
    fed = IdentityMap.of(graph.inputs)
    for op in graph.get_operations():
        if op.type == "Placeholder" and op.outputs[0] not in fed:
            raise NotBatchable("a list of tensors that were the same for every replica")


def per_replica(tensor: Tensor, count: int, shape: Any, dtype: DType) -> list[Any]:
    """One list per replica, from the list `tensor` of stacked elements."""
    stacked = tf.raw_ops.TensorListStack(
        input_handle=tensor, element_shape=tf.constant([count] + shape), element_dtype=dtype
    )
    return [
        tf.raw_ops.TensorListFromTensor(
            tensor=elements, element_shape=tf.constant(shape, tf.int32, [len(shape)])
        )
        for elements in tf.unstack(stacked, count, 1)
    ]
