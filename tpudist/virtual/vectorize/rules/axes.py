"""Rules for ops along axes, and for ops that change shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.tfcompat import made_ops
from tpudist.virtual.vectorize.rules.node import RESHAPES, rule
from tpudist.virtual.vectorize.values import batched_values

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Tensor
    from tpudist.virtual.vectorize.rules.node import Node
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


_REDUCTIONS = ("All", "Any", "ArgMax", "ArgMin", "Max", "Mean", "Min", "Prod", "Sum")


@rule(*_REDUCTIONS)
def reduction(node: Node) -> Sequence[BatchedValue] | None:
    """Reduces over static axes."""
    axes = node.constant(1)
    if axes is None:
        return None
    value, rank = node.inputs[0], len(node.input_shape())
    axes = axes.reshape([-1]) % max(rank, 1) if axes.size else axes
    if node.op.type == "Sum" and node.summed and 0 in axes.reshape([-1]):
        return [batched_values.ReplicaSum(node.add_op(value.rows(), node.inputs[1].value)[0])]
    if rank > 1 and 0 not in axes.reshape([-1]):  # each row by itself
        same = made_ops.constant(axes.reshape(node.input_shape(1)), axes.dtype)
        return node.on_rows(value.rows(), same)
    shifted = (axes + 1).reshape(node.input_shape(1))
    return node.on_stacked(value.stacked(), made_ops.constant(shifted, shifted.dtype))


@rule("L2Loss")
def l2_loss(node: Node) -> Sequence[BatchedValue] | None:
    """Computes half the sum of squares, of float32 and float64 only."""
    if node.op.inputs[0].dtype not in (tf.float32, tf.float64):
        return None
    axes = list(range(1, len(node.input_shape()) + 1))
    return node.from_stacked(tf.reduce_sum(tf.square(node.inputs[0].stacked()), axes) / 2)


@rule(*RESHAPES)
def reshape(node: Node) -> list[Any]:
    """Gives values another shape."""
    value = node.inputs[0]
    if isinstance(value, batched_values.ReplicaSum):
        return [batched_values.ReplicaSum(made_ops.reshape(value.value, node.shape()))]
    if node.is_uniform(0):
        return [value.with_tensors([made_ops.reshape(value.value, node.shape())])]
    return [batched_values.Batch(node.count, node.shape(), flat=value.any_form())]


@rule("Transpose")
def transpose(node: Node) -> Sequence[BatchedValue] | None:
    """Transposes axes."""
    order = node.constant(1)
    if order is None:
        return None
    if len(order) > 1 and order[0] == 0:  # each row by itself
        return node.on_rows(node.inputs[0].rows(), made_ops.constant(order, order.dtype))
    shifted = [0] + [axis % len(order) + 1 for axis in order]
    return node.on_stacked(node.inputs[0].stacked(), made_ops.constant(shifted, order.dtype))


@rule("Tile")
def tile(node: Node) -> Sequence[BatchedValue] | None:
    """Repeats values along axes."""
    times = node.constant(1)
    if times is None:
        return None
    shifted = made_ops.constant([1] + list(times), times.dtype)
    return node.on_stacked(node.inputs[0].stacked(), shifted)


@rule("BroadcastTo", "Fill")
def broadcast_to(node: Node) -> Sequence[BatchedValue] | None:
    """Broadcasts to a static shape."""
    value = node.inputs[node.op.type == "Fill"]
    if isinstance(value, batched_values.Uniform):
        return [value.with_tensors([tf.broadcast_to(value.value, node.shape())])]
    stacked = value.stacked_to_rank(len(node.shape()))
    return node.from_stacked(tf.broadcast_to(stacked, [node.count] + node.shape()))


@rule("MirrorPad", "MirrorPadGrad", "Pad", "PadV2")
def pad(node: Node) -> Sequence[BatchedValue] | None:
    """Pads by static widths; also the gradient of that."""
    widths = node.constant(1)
    if widths is None or not node.is_uniform(*range(1, len(node.inputs))):
        return None
    stacked_widths = made_ops.constant([[0, 0]] + widths.tolist(), widths.dtype)
    rest = [value.value for value in node.inputs[2:]]
    return node.on_stacked(node.inputs[0].stacked(), stacked_widths, *rest)


@rule("ConcatV2")
def concatenate(node: Node) -> Sequence[BatchedValue] | None:
    """Concatenates along a static axis."""
    axis = node.constant(len(node.inputs) - 1)
    if axis is None:
        return None
    parts = [value.stacked() for value in node.inputs[:-1]]
    return node.from_stacked(tf.concat(parts, axis % len(node.shape()) + 1))


@rule("Pack")
def pack(node: Node) -> Sequence[BatchedValue] | None:
    """Stacks values along a new axis; one value several times is broadcast."""
    axis = node.op.get_attr("axis") % len(node.shape()) + 1
    values = [value.stacked() for value in node.inputs]
    if len(values) > 1 and all(other is values[0] for other in values):
        one = tf.expand_dims(values[0], axis)
        return node.from_stacked(tf.broadcast_to(one, [node.count] + node.shape()))
    return node.from_stacked(tf.stack(values, axis))


@rule("OneHot")
def one_hot(node: Node) -> Sequence[BatchedValue] | None:
    """Makes one-hot vectors along an axis."""
    if not node.is_batch(0) or not node.is_uniform(1, 2, 3):
        return None
    axis, dtype = node.op.get_attr("axis") % len(node.shape()) + 1, node.op.outputs[0].dtype
    parameters = [value.value for value in node.inputs[1:]]
    hot = tf.one_hot(node.inputs[0].stacked(), *parameters, axis=axis, dtype=dtype)
    return node.from_stacked(hot)


@rule("StridedSlice")
def strided_slice(node: Node) -> Sequence[BatchedValue] | None:
    """Slices by bounds that are the same for every replica."""
    bounds = _slice_arguments(node)
    if not bounds:
        return None
    return node.from_stacked(tf.raw_ops.StridedSlice(input=node.inputs[0].stacked(), **bounds))


@rule("StridedSliceGrad")
def strided_slice_gradient(node: Node) -> Sequence[BatchedValue] | None:
    """Computes the gradient of a slice by bounds that are the same for every replica."""
    bounds = _slice_arguments(node)
    if not bounds:
        return None
    shape = made_ops.constant([node.count] + node.shape(), node.op.inputs[0].dtype)
    dy = node.inputs[4].stacked()
    return node.from_stacked(tf.raw_ops.StridedSliceGrad(shape=shape, dy=dy, **bounds))


def _slice_arguments(node: Node) -> dict[str, Any] | None:
    """The arguments of a slice, with the axis of replicas before; None if replicas differ."""
    names = enumerate(("begin", "end", "strides"), 1)
    arguments: dict[str, Any] = {name: _prepend(i == 3, node, i) for i, name in names}
    if any(argument is None for argument in arguments.values()):
        return None
    for name in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"):
        arguments[name] = node.op.get_attr(name) << 1 | (name in ("begin_mask", "end_mask"))
    return arguments


def _prepend(first: Any, node: Node, index: int) -> Tensor | None:
    """A uniform input with `first` before its numbers; None if it is not uniform."""
    numbers, dtype = node.constant(index), node.op.inputs[index].dtype
    if numbers is not None:
        return made_ops.constant([first] + numbers.tolist(), dtype)
    if not node.is_uniform(index):
        return None
    return tf.concat([made_ops.constant([first], dtype), node.inputs[index].value], 0)


@rule("Slice")
def slice_(node: Node) -> Sequence[BatchedValue] | None:
    """Slices from a position that is the same for every replica."""
    begin = _prepend(0, node, 1)
    if begin is None:
        return None
    size = made_ops.constant([node.count] + node.shape(), node.op.inputs[1].dtype)
    return node.on_stacked(node.inputs[0].stacked(), begin, size)


@rule("Split")
def split(node: Node) -> Sequence[BatchedValue] | None:
    """Splits into equal parts along a static axis."""
    axis = node.constant(0)
    if axis is None:
        return None
    axis = int(axis) % len(node.input_shape(1)) + 1
    parts = tf.split(node.inputs[1].stacked(), len(node.op.outputs), axis)
    return node.batches("stacked", parts)


@rule("Unpack")
def unpack(node: Node) -> Sequence[BatchedValue] | None:
    """Unstacks along an axis."""
    axis = node.op.get_attr("axis") % len(node.input_shape())
    return node.batches("stacked", tf.unstack(node.inputs[0].stacked(), axis=axis + 1))
