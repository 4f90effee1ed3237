"""Batched tensor lists, which loops read, write and accumulate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.vectorize.values.batched_values import BatchedValue, NotBatchable

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import DType, FunctionGraph, Tensor


#: Ops that return a new list; input 0 is the shape of its elements.
_MAKERS = ("EmptyTensorList", "TensorListReserve")


class StackedList(BatchedValue):
    """One tensor list for all replicas, whose elements have the shape ``[N] + shape``."""

    def __init__(self, count: int, shape: Any, dtype: DType, tensor: Tensor | None = None) -> None:
        self.count = count
        self.shape = list(shape)
        self.dtype = dtype
        self._tensors = [tensor]

    def placeholders(self, tensor: Tensor) -> BatchedValue:
        """Placeholders of the same layout for `tensor`, of the trace."""
        return self.with_tensors([tf.compat.v1.placeholder(tf.variant, [])])

    def per_replica(self) -> Any:
        """One list per replica."""
        stacked = tf.raw_ops.TensorListStack(
            input_handle=self.value,
            element_shape=tf.constant([self.count] + self.shape),
            element_dtype=self.dtype,
        )
        return [
            tf.raw_ops.TensorListFromTensor(
                tensor=elements, element_shape=tf.constant(self.shape, tf.int32, [len(self.shape)])
            )
            for elements in tf.unstack(stacked, self.count, 1)
        ]


class PaddedList(BatchedValue):
    """A list to which replicas pushed unequal numbers of elements, in a loop that they left.

    Where a replica had left, `whole` has an element of no meaning for it. `lengths` is an int32
    tensor ``[N]``: how many elements each replica has.
    """

    num_tensors = 2

    def __init__(self, whole: BatchedValue, lengths: Tensor) -> None:
        self.whole = whole
        self.lengths = lengths
        self._tensors = [whole.value, lengths]

    @property
    def layout_key(self) -> Any:
        """Equal for two values of this class with the same layout."""
        return type(self.whole), self.whole.layout_key

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """A padded list of the same layout, of its list and its lengths."""
        return PaddedList(self.whole.with_tensors(tensors[:1]), tensors[1])

    def per_replica(self) -> Any:
        """One list per replica, without the padding."""
        lists = self.whole.per_replica()
        sizes = tf.unstack(self.lengths, len(lists))
        return [tf.raw_ops.TensorListResize(input_handle=a, size=n) for a, n in zip(lists, sizes)]


def of_any_shape(tensor: Tensor) -> Tensor:
    """A list like `tensor`, a new one, for elements of any shape.

    For an input of a loop it is a placeholder that is never fed: when the loop is batched for the
    first time, it is not known whether replicas put different elements into the list. The loop
    is batched again with the layout that is known then; see :func:`check_fed`.

    Raises:
      NotBatchable: the list may have elements already.
    """
    if tensor.op.type == "Placeholder":
        return tf.compat.v1.placeholder(tf.variant, [])
    if tensor.op.type not in _MAKERS:
        raise NotBatchable("a list of tensors that were the same for every replica")
    shape, *others = tensor.op.inputs
    return functions.copy_op(tensor.op, [tf.constant(-1, shape.dtype)] + others).outputs[0]


def check_fed(graph: FunctionGraph) -> None:
    """Checks that a finished FuncGraph has no placeholder that is never fed.

    Raises:
      NotBatchable: there is one, from :func:`of_any_shape`.
    """
    fed = IdentityMap.of(graph.inputs)
    for op in graph.get_operations():
        if op.type == "Placeholder" and op.outputs[0] not in fed:
            raise NotBatchable("a list of tensors that were the same for every replica")
