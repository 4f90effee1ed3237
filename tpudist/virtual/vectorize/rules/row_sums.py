"""Rules for sums over ragged rows."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.tfcompat import made_ops
from tpudist.virtual.vectorize.rules.ragged import (
    are_ragged,
    on_all_rows,
    ragged_outputs,
    row_shapes,
    rule,
    within_rows,
)
from tpudist.virtual.vectorize.values import batched_values, ragged_values
from tpudist.virtual.vectorize.values.known_shapes import Axes, Sizes
from tpudist.virtual.vectorize.values.ragged_values import Ragged

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import Tensor
    from tpudist.virtual.vectorize.rules.node import Node
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


def _replica_sum(node: Node, *inputs: Any) -> list[Any]:
    """Adds the op with `inputs`; its output is a sum over the replicas."""
    return [batched_values.ReplicaSum(node.add_op(*inputs)[0])]


@rule("Sum", "Mean")
def reduction(node: Node) -> Sequence[BatchedValue] | None:
    """Sums, or averages, over axes of a row, or over the rows of each replica."""
    if isinstance(node.inputs[1], Axes):
        return _reduce_to_shape(node, node.inputs[1].target)
    axes = node.constant(1)
    if not isinstance(node.inputs[0], Ragged) or axes is None:
        return None
    if within_rows(node, axes):
        return on_all_rows(node)
    if node.summed and node.op.type == "Sum":
        return _replica_sum(node, node.inputs[0].rows(), node.inputs[1].value)
    return _sum_per_replica(node, axes)


def _sum_per_replica(node: Node, axes: Any) -> Sequence[BatchedValue] | None:
    """The sums or means over the rows of each replica, and over other `axes`."""
    value, dtype = node.inputs[0], node.op.outputs[0].dtype
    if node.shape() is None or dtype not in (tf.float32, tf.float64):
        return None
    rank = len(value.shape)
    inner = sorted({axis % rank for axis in axes.reshape([-1]).tolist()} - {0})
    sums = _sum_by_owner(value, inner)
    if node.op.type == "Mean":
        size = tf.TensorShape([value.shape[axis] for axis in inner]).num_elements()
        divisor = tf.cast(value.sizes.tensor() * size, dtype)
        sums /= tf.reshape(divisor, [-1] + [1] * (len(sums.shape) - 1))
    return node.from_stacked(made_ops.reshape(sums, [node.count] + node.shape()))


def _sum_by_owner(value: Any, inner: Sequence[int]) -> Tensor:
    """The sums of each replica's rows, and over the axes `inner` of each row, stacked."""
    rows = tf.reduce_sum(value.rows(), inner) if inner else value.rows()
    return tf.math.unsorted_segment_sum(rows, value.sizes.owners(), value.count)


def _reduce_to_shape(node: Node, target: Any) -> Sequence[BatchedValue] | None:
    """Sums a gradient to the shape `target`, as `known_shapes.Axes` say."""
    value = node.inputs[0]
    if not isinstance(value, Ragged) or any(isinstance(n, Sizes) for n in target[1:]):
        return None
    missing = len(value.shape) - len(target)
    padded = [1] * missing + target
    if missing < 0 or any(n not in (1, m) for n, m in list(zip(padded, value.shape))[1:]):
        return None
    inner = [i for i, n in enumerate(padded) if i and n != value.shape[i]]
    sizes = padded[0]
    if isinstance(sizes, Sizes):  # of the rows that were broadcast
        if sizes.key.factor != value.sizes.key.factor:
            return None
        if sizes.key.origins > value.sizes.key.origins:
            return None
        rows = tf.reduce_sum(value.rows(), inner, keepdims=True) if inner else value.rows()
        summed = Ragged(node.count, target[1:], value.sizes, rows=rows)
        rows = ragged_values.sum_repeated_rows(summed, sizes)
        return [Ragged(node.count, target[1:], sizes, rows=rows)]
    if sizes != 1:
        return None
    if node.summed:
        sums = tf.reduce_sum(value.rows(), [0] + inner)
        return [batched_values.ReplicaSum(tf.reshape(sums, made_ops.constant(target)))]
    if node.op.outputs[0].dtype not in (tf.float32, tf.float64):
        return None
    stacked = made_ops.reshape(_sum_by_owner(value, inner), [node.count] + target)
    return [batched_values.Batch(node.count, target, stacked=stacked)]


@rule("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter")
def convolution_filter_gradient(node: Node) -> Sequence[BatchedValue] | None:
    """Computes the gradient of a convolution for its filter, a sum over examples."""
    images, size, gradients = node.inputs
    if not (are_ragged(node, 0, 2) and node.summed and node.is_uniform(1)):
        return None
    checked = ragged_values.checked_rows(gradients, images.sizes)
    return _replica_sum(node, images.rows(), size.value, checked)


@rule("BiasAddGrad")
def bias_gradient(node: Node) -> Sequence[BatchedValue] | None:
    """Computes the gradient of a bias, a sum over examples."""
    return _replica_sum(node, node.inputs[0].rows()) if node.summed else None


@rule("MatMul")
def matmul(node: Node) -> Sequence[BatchedValue] | None:
    """Multiplies matrices: examples and weights, or their gradients."""
    left, right = node.inputs
    flip = [node.op.get_attr(name) for name in ("transpose_a", "transpose_b")]
    if node.is_uniform(1) and not flip[0]:
        return on_all_rows(node)
    if are_ragged(node, 0, 1) and node.summed and flip == [True, False]:
        return _replica_sum(node, left.rows(), ragged_values.checked_rows(right, left.sizes))
    return None


@rule("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(node: Node) -> Sequence[BatchedValue] | None:
    """Multiplies batches of matrices, whose first batch axis is that of the rows."""
    if row_shapes(node) is None:
        return None
    rank = len(row_shapes(node)[0]) + 1
    left, right = node.inputs
    if node.is_uniform(1) and len(node.input_shape(1) or ()) == 2:
        # By MatMul: the kernel of the op crashes on some of these shapes.
        if node.op.get_attr("adj_x") or node.op.inputs[0].dtype != node.op.outputs[0].dtype:
            return None
        flat = tf.reshape(left.rows(), [-1, left.shape[-1]])
        product = tf.matmul(flat, right.value, adjoint_b=node.op.get_attr("adj_y"))
        rows = tf.reshape(product, made_ops.constant([-1] + row_shapes(node)[0]))
        return ragged_outputs(node, left.sizes, [rows])
    if len({value.sizes.key for value in node.inputs if isinstance(value, Ragged)}) > 1:
        return None
    for i, value in enumerate(node.inputs):
        shape = value.shape if isinstance(value, Ragged) else node.input_shape(i)
        if shape is None or len(shape) < 3 and isinstance(value, Ragged):
            return None
        if len(shape) == rank and not (isinstance(value, Ragged) or shape[0] == 1):
            return None
        if isinstance(value, Ragged) and len(shape) != rank:
            return None
    return on_all_rows(node)


@rule("Einsum")
def einsum(node: Node) -> Sequence[BatchedValue] | None:
    """Sums products along named axes; the first axis of ragged inputs is that of the rows."""
    equation = node.op.get_attr("equation").decode().replace(" ", "")
    terms, out = equation.split("->")
    terms = terms.split(",")
    is_ragged = [isinstance(value, Ragged) for value in node.inputs]
    first = {term[0] for term, has_rows in zip(terms, is_ragged) if has_rows and term}
    if len(first) != 1 or not first <= set(string.ascii_letters):
        return None
    (name,) = first
    if any(term.count(name) != has_rows for term, has_rows in zip(terms, is_ragged)):
        return None
    if out.count(name) and out[0] == name:
        return on_all_rows(node)
    if name in out or not (node.summed and all(is_ragged)):
        return None
    sizes = node.inputs[0].sizes
    return _replica_sum(node, *[ragged_values.checked_rows(value, sizes) for value in node.inputs])


@rule("UnsortedSegmentSum")
def segment_sum(node: Node) -> Sequence[BatchedValue] | None:
    """Computes the gradient of gathering rows of a table."""
    values, ids, size = node.inputs
    if not (node.summed and are_ragged(node, 0, 1) and node.is_uniform(2) and len(ids.shape) == 1):
        return None
    return _replica_sum(node, ragged_values.checked_rows(values, ids.sizes), ids.rows(), size.value)
