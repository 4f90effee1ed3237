"""Rules for variants: tensor lists, and optionals, by which branches pass values to gradients.

The elements of the list or optional for all replicas are stacked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.tfcompat import made_ops
from tpudist.virtual.vectorize.rules import elementwise
from tpudist.virtual.vectorize.rules.node import rule
from tpudist.virtual.vectorize.values import batched_values, layouts

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import Tensor
    from tpudist.virtual.vectorize.rules.node import Node
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


def _list(node: Node, index: int, shape: Any) -> Tensor:
    """Input `index` as a list of stacked elements, of `shape` in one replica."""
    value = node.inputs[index]
    if isinstance(value, layouts.StackedList):
        if value.shape != list(shape):
            raise batched_values.NotBatchable("a list of tensors of several shapes")
        return value.value
    return layouts.of_any_shape(value.value)


def _lists(node: Node, index: int, shape: Any, tensor: Tensor) -> BatchedValue:
    """The batched value of the list `tensor`; its elements have the type of input `index`."""
    return layouts.StackedList(node.count, shape, node.op.inputs[index].dtype, tensor)


def _element(node: Node, index: int) -> tuple[Any, ...]:
    """Input `index`, an element: stacked, and its shape in one replica."""
    value, shape = node.inputs[index], node.input_shape(index)
    if shape is None or not isinstance(value, (batched_values.Batch, batched_values.Uniform)):
        raise batched_values.NotBatchable("only the run knows the shape of an element of a list")
    return value.stacked(), shape


def _index(node: Node, index: int) -> Tensor:
    """Input `index`, an index or a size, which must be uniform."""
    if not node.is_uniform(index):
        raise batched_values.NotBatchable("replicas use different places of a list")
    return node.inputs[index].value


def _stacked_shape(node: Node, index: int, shape: Any) -> Tensor:
    """Input `index`, the shape of an element, for stacked elements."""
    return made_ops.constant([node.count] + list(shape), node.op.inputs[index].dtype)


@rule("TensorListSetItem")
def set_item(node: Node) -> list[Any]:
    """Writes an element."""
    element, shape = _element(node, 2)
    new_list = node.add_op(_list(node, 0, shape), _index(node, 1), element)[0]
    return [_lists(node, 2, shape, new_list)]


@rule("TensorListPushBack")
def push(node: Node) -> list[Any]:
    """Appends an element."""
    element, shape = _element(node, 1)
    return [_lists(node, 1, shape, node.add_op(_list(node, 0, shape), element)[0])]


@rule("TensorListPopBack")
def pop(node: Node) -> list[Any]:
    """Removes and returns the last element."""
    value = node.inputs[0]
    rest, element = node.add_op(value.value, _stacked_shape(node, 1, value.shape))
    element.set_shape([node.count] + value.shape)
    batch = batched_values.Batch(node.count, value.shape, stacked=element)
    return [value.with_tensors([rest]), batch]


@rule("TensorListGetItem")
def get_item(node: Node) -> list[Any]:
    """Reads an element."""
    value = node.inputs[0]
    (element,) = node.add_op(value.value, _index(node, 1), _stacked_shape(node, 2, value.shape))
    element.set_shape([node.count] + value.shape)
    return [batched_values.Batch(node.count, value.shape, stacked=element)]


@rule("TensorListLength")
def length(node: Node) -> list[Any]:
    """Returns the length, which is the same for all replicas."""
    return [batched_values.Uniform(node.count, node.add_op(node.inputs[0].value)[0])]


@rule("TensorListElementShape")
def element_shape(node: Node) -> list[Any]:
    """Returns the shape of one replica's elements."""
    output = node.op.outputs[0]
    shape = made_ops.constant(node.inputs[0].shape, output.dtype)
    return [batched_values.Uniform(node.count, shape)]


@rule("TensorListResize")
def resize(node: Node) -> list[Any]:
    """Changes the length of a list."""
    value = node.inputs[0]
    return [value.with_tensors(node.add_op(value.value, _index(node, 1)))]


@rule("AddN")
def add(node: Node) -> Sequence[BatchedValue] | None:
    """Adds lists element by element; for other values see :mod:`elementwise`."""
    lists = [value for value in node.inputs if isinstance(value, layouts.StackedList)]
    if not lists:
        return elementwise.same_shape(node)
    tensors = [_list(node, i, lists[0].shape) for i in range(len(node.inputs))]
    return [lists[0].with_tensors(node.add_op(*tensors))]


@rule("TensorListStack", "TensorListGather")
def stack(node: Node) -> Sequence[BatchedValue] | None:
    """Stacks the elements of a list along a new first axis."""
    value, (size, *shape) = node.inputs[0], node.shape() or [None]
    if size is None or shape != value.shape:
        raise batched_values.NotBatchable("the length of a list is known only when it runs")
    middle = [_index(node, 1)] if len(node.inputs) == 3 else []
    last = len(node.inputs) - 1
    (stacked,) = node.add_op(value.value, *middle, _stacked_shape(node, last, shape))
    stacked.set_shape([size, node.count] + shape)
    return node.from_stacked(_replicas_swapped(stacked))


def _replicas_swapped(tensor: Tensor) -> Tensor:
    """`tensor` with its first two axes, those of replicas and elements, swapped."""
    return tf.transpose(tensor, [1, 0] + list(range(2, len(tensor.shape))))


@rule("TensorListFromTensor")
def from_tensor(node: Node) -> list[Any] | None:
    """Makes a list of the slices along the first axis."""
    shape = node.input_shape(0)
    if not shape:
        return None
    elements = _replicas_swapped(node.inputs[0].stacked())
    (new_list,) = node.add_op(elements, _stacked_shape(node, 1, shape[1:]))
    return [_lists(node, 0, shape[1:], new_list)]


# Optionals.


@rule(layouts.FULL)
def pack_optional(node: Node) -> list[Any] | None:
    """Packs a value into an optional."""
    if len(node.inputs) != 1 or not node.is_batch(0):
        return None
    value, dtype = node.inputs[0], node.op.inputs[0].dtype
    return [layouts.Optionals.of(node.count, value.stacked(), dtype, value.shape)]


@rule("OptionalGetValue")
def unpack_optional(node: Node) -> list[Any] | None:
    """Unpacks the value of an optional."""
    if len(node.op.outputs) != 1 or node.shape() is None:
        return None
    value = layouts.unpack(node.inputs[0], node.op.outputs[0].dtype, node.shape())
    return [batched_values.Batch(node.count, node.shape(), stacked=value)]
