"""Rules for sums over ragged rows, and for gathering and scattering such rows."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.virtual import constants
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import dependencies
from tpudist.virtual.vectorize.rules.ragged import (
    on_all_rows,
    on_rows,
    row_shapes,
    rule,
    within_rows,
)
from tpudist.virtual.vectorize.values import batched_values, ragged_values
from tpudist.virtual.vectorize.values.known_shapes import Axes, Sizes, entries
from tpudist.virtual.vectorize.values.ragged_values import Ragged

if TYPE_CHECKING:
    from tpudist.virtual.vectorize.rules.node import Node


def _replica_sum(node: Node, *inputs: Any) -> list[Any]:
    """Adds the op with `inputs`; its output is a sum over the replicas."""
    return [batched_values.ReplicaSum(node.add_op(*inputs)[0])]


@rule("Sum", "Mean")
def reduction(node: Node) -> Any:
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


def _sum_per_replica(node: Node, axes: Any) -> Any:
    """The sums or means over the rows of each replica, and over other `axes`."""
    value, dtype = node.inputs[0], node.op.outputs[0].dtype
    if node.shape() is None or dtype not in (tf.float32, tf.float64):
        return None
    rank = len(value.shape)
    inner = sorted({axis % rank for axis in axes.reshape([-1]).tolist()} - {0})
    sums = _sum_by_owner(tf.reduce_sum(value.rows(), inner) if inner else value.rows(), value)
    if node.op.type == "Mean":
        size = tf.TensorShape([value.shape[axis] for axis in inner]).num_elements()
        divisor = tf.cast(value.sizes.tensor() * size, dtype)
        sums /= tf.reshape(divisor, [-1] + [1] * (len(sums.shape) - 1))
    return node.from_stacked(constants.reshape(sums, [node.count] + node.shape()))


def _sum_by_owner(rows: Any, value: Any) -> Any:
    """The sums of each replica's rows, stacked."""
    return tf.math.unsorted_segment_sum(rows, value.sizes.owners(), value.count)


def _reduce_to_shape(node: Node, target: Any) -> Any:
    """Sums a gradient to the shape `target`, as `known_shapes.Axes` say."""
    value = node.inputs[0]
    if not isinstance(value, Ragged) or any(isinstance(n, Sizes) for n in target[1:]):
        return None
    missing = len(value.shape) - len(target)
    padded = [1] * missing + target
    if missing < 0 or any(n not in (1, m) for n, m in list(zip(padded, value.shape))[1:]):
        return None
    inner = [i for i, n in enumerate(padded) if i and n != value.shape[i]]
    if isinstance(padded[0], Sizes):
        return _reduce_to_rows(node, value, target, inner)
    if padded[0] != 1:
        return None
    if node.summed:
        sums = tf.reduce_sum(value.rows(), [0] + inner)
        return [batched_values.ReplicaSum(tf.reshape(sums, constants.constant(target)))]
    if node.op.outputs[0].dtype not in (tf.float32, tf.float64):
        return None
    sums = _sum_by_owner(tf.reduce_sum(value.rows(), inner) if inner else value.rows(), value)
    stacked = constants.reshape(sums, [node.count] + target)
    return [batched_values.Batch(node.count, target, stacked=stacked)]


def _reduce_to_rows(node: Node, value: Any, target: Any, inner: Any) -> list[Any] | None:
    """Sums a gradient to the rows that were broadcast, and over the axes `inner`."""
    sizes = target[0]
    if sizes.key.factor != value.sizes.key.factor or sizes.key.origins > value.sizes.key.origins:
        return None
    rows = tf.reduce_sum(value.rows(), inner, keepdims=True) if inner else value.rows()
    summed = Ragged(node.count, target[1:], value.sizes, rows=rows)
    rows = ragged_values.sum_repeated_rows(summed, sizes)
    return [Ragged(node.count, target[1:], sizes, rows=rows)]


@rule("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter")
def convolution_filter_gradient(node: Node) -> Any:
    """Computes the gradient of a convolution for its filter, a sum over examples."""
    images, size, gradients = node.inputs
    both = isinstance(images, Ragged) and isinstance(gradients, Ragged)
    if not (both and node.summed and node.is_uniform(1)):
        return None
    checked = ragged_values.checked_rows(gradients, images.sizes)
    return _replica_sum(node, images.rows(), size.value, checked)


@rule("BiasAddGrad")
def bias_gradient(node: Node) -> Any:
    """Computes the gradient of a bias, a sum over examples."""
    return _replica_sum(node, node.inputs[0].rows()) if node.summed else None


@rule("MatMul")
def matmul(node: Node) -> Any:
    """Multiplies matrices: examples and weights, or their gradients."""
    left, right = node.inputs
    flip = [node.op.get_attr(name) for name in ("transpose_a", "transpose_b")]
    if isinstance(left, Ragged) and node.is_uniform(1) and not flip[0]:
        return on_all_rows(node)
    both = isinstance(left, Ragged) and isinstance(right, Ragged)
    if both and node.summed and flip == [True, False]:
        return _replica_sum(node, left.rows(), ragged_values.checked_rows(right, left.sizes))
    return None


@rule("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(node: Node) -> Any:
    """Multiplies batches of matrices, whose first batch axis is that of the rows."""
    if row_shapes(node) is None:
        return None
    rank = len(row_shapes(node)[0]) + 1
    if node.is_uniform(1) and len(node.input_shape(1) or ()) == 2:
        return _by_one_matrix(node)
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


def _by_one_matrix(node: Node) -> list[Any] | None:
    """Multiplies by one matrix, by MatMul: the kernel of the op crashes on some of these shapes."""
    left, right = node.inputs
    if node.op.get_attr("adj_x") or node.op.inputs[0].dtype != node.op.outputs[0].dtype:
        return None
    flat = tf.reshape(left.rows(), [-1, left.shape[-1]])
    product_rows = tf.matmul(flat, right.value, adjoint_b=node.op.get_attr("adj_y"))
    rows = tf.reshape(product_rows, constants.constant([-1] + row_shapes(node)[0]))
    return [Ragged(node.count, row_shapes(node)[0], left.sizes, rows=rows)]


@rule("Einsum")
def einsum(node: Node) -> Any:
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


# Indices of rows.


@rule("Where")
def where(node: Node) -> Any:
    """Finds where a condition is true: indices of which the first counts the replica's rows."""
    value = node.inputs[0]
    if node.op.inputs[0].dtype != tf.bool or not row_shapes(node):
        return None
    if isinstance(value, batched_values.Batch):
        return _where_of_batch(node, value) if value.shape else None
    if not isinstance(value, Ragged):
        return None
    owners, sizes = value.sizes.owners(), value.sizes.tensor()
    (indices,) = node.add_op(value.rows())
    owners = tf.gather(owners, tf.cast(indices[:, 0], tf.int32))
    starts = tf.gather(ragged_values.starts(sizes), owners)
    own_indices = tf.concat(
        [indices[:, :1] - tf.cast(starts, indices.dtype)[:, None], indices[:, 1:]], 1
    )
    ones = tf.ones_like(owners)
    new_sizes = ragged_values.unknown_sizes(
        lambda: tf.math.unsorted_segment_sum(ones, owners, node.count), owners
    )
    return [Ragged(node.count, row_shapes(node)[0], new_sizes, rows=own_indices)]


def _where_of_batch(node: Node, value: Any) -> list[Any]:
    """The same for a batch; one result per condition, so that its uses have equal `Sizes`."""
    condition, graph = value.stacked(), tf.compat.v1.get_default_graph()
    if not hasattr(graph, "_tpudist_places"):
        graph._tpudist_places = IdentityMap()
    is_free = not dependencies.controls_of(node.op)
    if not is_free or condition not in graph._tpudist_places:
        (indices,) = node.add_op(condition)
        sizes = ragged_values.unknown_sizes(
            lambda: tf.reduce_sum(
                tf.cast(condition, tf.int32), list(range(1, len(condition.shape)))
            ),
            tf.cast(indices[:, 0], tf.int32),
        )
        result = Ragged(node.count, row_shapes(node)[0], sizes, rows=indices[:, 1:])
        if not is_free:
            return [result]
        graph._tpudist_places[condition] = result
    return [graph._tpudist_places[condition]]


@rule("GatherV2", "ResourceGather")
def gather(node: Node) -> Any:
    """Gathers rows of a table or of each replica's own rows, or elements of each row."""
    table, indices = node.inputs[:2]
    axis = node.constant(2) if len(node.inputs) > 2 else 0
    if axis is None or node.op.get_attr("batch_dims") or row_shapes(node) is None:
        return None
    if isinstance(table, Ragged) and node.is_uniform(1):
        return on_all_rows(node) if int(axis) % len(table.shape) else None
    if int(axis) or not isinstance(indices, Ragged):
        return None
    if node.is_uniform(0):
        return on_all_rows(node)
    rows = _own_rows(table)
    if rows is None:
        return None
    others = [other.value for other in node.inputs[2:]]
    size = table.sizes if isinstance(table, Ragged) else table.shape[0]
    return on_rows(node, indices.sizes, rows, _to_global_rows(indices, size), *others)


def _own_rows(value: Any) -> Any:
    """All replicas' rows, if each replica has its own; else None."""
    if isinstance(value, Ragged) or isinstance(value, batched_values.Batch) and value.shape:
        return value.rows()
    return None


def _to_global_rows(indices: Any, size: Any, negative: bool = False) -> Any:
    """Turns indices of each replica's rows into indices of all rows.

    The run fails if a replica has no such row.

    Args:
      indices: a `Ragged` of ints.
      size: how many rows a replica has: an int, or a `Sizes`.
      negative: whether negative indices are allowed.
    """
    rows, owners = indices.rows(), indices.sizes.owners()
    if isinstance(size, Sizes):
        ends = _with_axes_of(indices, tf.gather(size.tensor(), owners))
        starts = tf.gather(ragged_values.starts(size.tensor()), owners)
    else:
        ends, starts = constants.constant(size), owners * constants.constant(size)
    is_valid = rows < tf.cast(ends, rows.dtype)
    is_valid = is_valid if negative else is_valid & (rows >= 0)
    # TensorFlow would add a branch to an assertion whose message has tensors but int32.
    message = ["A replica has no such row:", tf.cast(rows, tf.int32), ends]
    with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(is_valid), message)]):
        rows = tf.identity(rows)
    return rows + tf.cast(_with_axes_of(indices, starts), rows.dtype)


def _with_axes_of(indices: Any, numbers: Any) -> Any:
    """One number for each row, in the shape that broadcasts to `indices`."""
    rank = len(indices.shape)
    return tf.reshape(numbers, [-1] + [1] * (rank - 1)) if rank > 1 else numbers


@rule("UnsortedSegmentSum")
def segment_sum(node: Node) -> Any:
    """Computes the gradient of gathering, for a table or for each replica's own rows."""
    values, ids, size = node.inputs
    if not isinstance(values, Ragged) or not isinstance(ids, Ragged) or len(ids.shape) != 1:
        return None
    checked_values = ragged_values.checked_rows(values, ids.sizes)
    if node.summed and node.is_uniform(2):
        return _replica_sum(node, checked_values, ids.rows(), size.value)
    number = entries(size)
    if not number or row_shapes(node) is None and node.shape() is None:
        return None
    is_known = not isinstance(number[0], Sizes)
    dtype = node.op.inputs[2].dtype
    number_of_all = (
        constants.constant(node.count * number[0], dtype) if is_known else number[0].total()
    )
    number_of_all = tf.cast(number_of_all, dtype)
    rows = ids.rows()
    rows = tf.where(rows < 0, rows, _to_global_rows(ids, number[0], negative=True))
    return (
        node.on_rows(checked_values, rows, number_of_all)
        if is_known
        else on_rows(node, number[0], checked_values, rows, number_of_all)
    )
