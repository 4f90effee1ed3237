"""Tensor lists for all replicas: loops keep in them what they read, write and accumulate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual.identity_map import IdentityMap

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import DType, Graph, Tensor


class NotBatchable(Exception):
    """An op cannot be batched; what contains it is done once per replica."""


#: Ops that make a list; input 0 is the shape of its elements.
_MAKERS = ("EmptyTensorList", "TensorListReserve")


def emptied(tensor: Tensor) -> Any:
    """The list `tensor`, which was just made, with elements of any shape.

    For a list that a loop takes it is a placeholder that nobody feeds: while the loop is
    batched a first time, it is not known yet what its lists hold. It is batched again with
    what was found; see :func:`check_fed`.

    Returns:
      A tensor, or None if the list may have elements.
    """
    if tensor.op.type == "Placeholder":
        return tf.compat.v1.placeholder(tf.variant, [])
    if tensor.op.type not in _MAKERS:
        return None
    shape, *others = tensor.op.inputs
    return functions.copy_op(tensor.op, [tf.constant(-1, shape.dtype)] + others).outputs[0]


def check_fed(graph: Graph) -> None:
    """Refuses a finished FuncGraph with a placeholder that nobody feeds.

    Raises:
      NotBatchable: a list was taken for one of all replicas that is none.
    """
    fed = IdentityMap.of(graph.inputs)
    for op in graph.get_operations():
        if op.type == "Placeholder" and op.outputs[0] not in fed:
            raise NotBatchable("a list of tensors that were the same for every replica")


def each(tensor: Tensor, count: int, shape: Any, dtype: DType) -> list[Any]:
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
