"""Rules for ops on examples, along the first axis of their inputs."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import made_ops, versions
from tpudist.virtual.vectorize.rules.node import rule
from tpudist.virtual.vectorize.values import batched_values

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import Nest
    from tpudist.virtual.vectorize.rules.node import Node
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


#: Ops that take examples along their first axis.
ROW_OPS = """AvgPool AvgPool3D BiasAdd Conv2D Conv3D DepthToSpace DepthwiseConv2dNative
ExtractImagePatches ImageProjectiveTransformV2 ImageProjectiveTransformV3 InTopKV2 LRN LRNGrad
MaxPool MaxPool3D MaxPool3DGrad MaxPoolGrad MaxPoolGradV2 MaxPoolV2 ResizeBicubic
ResizeBicubicGrad ResizeBilinear ResizeBilinearGrad ResizeNearestNeighbor
ResizeNearestNeighborGrad SoftmaxCrossEntropyWithLogits SpaceToDepth
SparseSoftmaxCrossEntropyWithLogits""".split()

#: How many inputs of these ops are examples; the others are parameters.
NUM_EXAMPLE_INPUTS = {
    **dict.fromkeys("BiasAdd Conv2D Conv3D DepthwiseConv2dNative MaxPoolV2".split(), 1),
    **dict.fromkeys("ResizeBicubic ResizeBilinear ResizeNearestNeighbor".split(), 1),
    "ResizeNearestNeighborGrad": 1,
    **dict.fromkeys("ImageProjectiveTransformV2 ImageProjectiveTransformV3 InTopKV2".split(), 2),
    "MaxPoolGradV2": 3,
}


@rule(*ROW_OPS)
def row_by_row(node: Node) -> Sequence[BatchedValue] | None:
    """Batches ops that take examples along their first axis, and parameters."""
    count = NUM_EXAMPLE_INPUTS.get(node.op.type, len(node.inputs))
    sizes = {node.input_shape(i)[0] for i in range(count)}
    if len(sizes) > 1 or not node.is_uniform(*range(count, len(node.inputs))):
        return None
    rows = [value.rows() for value in node.inputs[:count]]
    return node.on_rows(*rows, *[value.value for value in node.inputs[count:]])


@rule("Softmax", "LogSoftmax")
def last_axis(node: Node) -> Sequence[BatchedValue] | None:
    """Batches ops along the last axis, whatever the rank."""
    if len(node.shape()) > 1:
        return node.on_rows(node.inputs[0].rows())
    return node.on_stacked(node.inputs[0].stacked())


@rule("Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput")
def convolution_input_gradient(node: Node) -> Sequence[BatchedValue] | None:
    """Computes the gradient of a convolution for its examples."""
    if not (node.is_uniform(1) and node.is_batch(2)):
        return None
    return node.on_rows(_shape_of_rows(node), node.inputs[1].value, node.inputs[2].rows())


@rule("AvgPool3DGrad", "AvgPoolGrad")
def average_pool_gradient(node: Node) -> Sequence[BatchedValue] | None:
    """Computes the gradient of an average pool."""
    return node.on_rows(_shape_of_rows(node), node.inputs[1].rows())


def _shape_of_rows(node: Node) -> Nest:
    """Input 0, the shape of the output, changed to that of all replicas' rows."""
    size, *others = node.shape()
    return made_ops.constant([size * node.count] + others, node.op.inputs[0].dtype)


@rule("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter")
def convolution_filter_gradient(node: Node) -> list[Any] | None:
    """Computes the gradient of a convolution for its filter, a sum over examples."""
    if not (node.summed and node.is_uniform(1)):
        return None
    images, sizes, gradients = node.inputs
    return [batched_values.ReplicaSum(node.add_op(images.rows(), sizes.value, gradients.rows())[0])]


@rule("BiasAddGrad")
def bias_gradient(node: Node) -> Sequence[BatchedValue] | None:
    """Computes the gradient of a bias, a sum over examples; per replica only of common floats."""
    if node.summed:
        return [batched_values.ReplicaSum(node.add_op(node.inputs[0].rows())[0])]
    if node.op.inputs[0].dtype not in (tf.float32, tf.float64):
        return None
    rank = len(node.input_shape())
    channel_axis = 2 if node.op.get_attr("data_format") == b"NCHW" else rank
    axes = [axis for axis in range(1, rank + 1) if axis != channel_axis]
    return node.from_stacked(tf.reduce_sum(node.inputs[0].stacked(), axes))


@rule("FusedBatchNormV3", "FusedBatchNormGradV3")
def layer_normalization(node: Node) -> list[Any] | None:
    """Batches the batch normalization of one image, by which Keras 2 normalizes layers.

    Its channels, each normalized by itself, are the rows of a LayerNormalization; those of all
    replicas are the channels of one image.
    """
    is_gradient = node.op.type == "FusedBatchNormGradV3"
    images, shape = node.inputs[: 1 + is_gradient], node.input_shape(0)
    if (
        node.op.get_attr("data_format") != b"NCHW"
        or not node.op.get_attr("is_training")
        or shape is None
        or shape[0] != 1
        or len(shape) != 4
        or not node.is_batch(is_gradient)
        or "GPU" in node.op.device
    ):
        return None
    num_channels = node.count * shape[1]
    tensors = [made_ops.reshape(x.stacked(), [1, num_channels, *shape[2:]]) for x in images]
    for i, value in list(enumerate(node.inputs))[len(images) :]:
        is_of_channels = node.input_shape(i) == shape[1:2]  # others are empty
        tensors.append(
            made_ops.reshape(value.stacked(), [num_channels]) if is_of_channels else value.value
        )
    outputs = node.add_op(*tensors)
    return [batched_values.Batch(node.count, shape, flat=outputs[0])] + [
        batched_values.Batch(node.count, shape[1:2], rows=output)
        if node.shape(i) == shape[1:2]
        else batched_values.Uniform(node.count, output)
        for i, output in list(enumerate(outputs))[1:]
    ]


@rule("ReverseSequence")
def reverse_sequence(node: Node) -> Sequence[BatchedValue] | None:
    """Reverses the first elements of each example, as many as its length says."""
    if node.op.get_attr("batch_dim"):
        return None
    return node.on_rows(*[value.rows() for value in node.inputs])


@rule("MatMul")
def matmul(node: Node) -> Sequence[BatchedValue] | None:
    """Multiplies matrices: examples and weights, or their gradients."""
    left, right = node.inputs
    flip = [node.op.get_attr(name) for name in ("transpose_a", "transpose_b")]
    if node.is_batch(0) and node.is_uniform(1) and not flip[0]:
        return node.on_rows(left.rows(), right.value)
    if node.summed and flip == [True, False]:
        return [batched_values.ReplicaSum(node.add_op(left.rows(), right.rows())[0])]
    if node.op.inputs[0].dtype == tf.bfloat16 and not versions.MULTIPLIES_BFLOAT16_BATCHES:
        return None
    values = [value.in_form("stacked") for value in node.inputs]
    return node.from_stacked(tf.matmul(*values, transpose_a=flip[0], transpose_b=flip[1]))


@rule("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(node: Node) -> Sequence[BatchedValue] | None:
    """Multiplies batches of matrices, whose batch axes are broadcast.

    If the shapes allow it, the replicas' rows form one larger batch, as in a program without
    replicas. With an axis of replicas in front the next axis may have size 1, and for such shapes
    TensorFlow's optimizer fuses a product with the ops after it wrongly.
    """
    if node.is_batch(0) and node.is_uniform(1) and _is_one_matrix(node):
        return _by_one_matrix(node)
    rank = len(node.shape())
    if rank > 2 and node.broadcasts_rows(0) and node.broadcasts_rows(1):
        return node.on_rows(*[value.in_form("rows") for value in node.inputs])
    if node.op.type == "BatchMatMul":
        return None
    return node.on_stacked(*[value.stacked_to_rank(rank) for value in node.inputs])


def _is_one_matrix(node: Node) -> bool:
    """Whether the right side is one real matrix, and the left side is not transposed."""
    matrix = node.input_shape(1)
    no_batch = set(matrix[:-2]) <= {1} and len(matrix) <= len(node.shape())
    types = {tensor.dtype for tensor in [*node.op.inputs, *node.op.outputs]}
    is_real = len(types) == 1 and next(iter(types)).is_floating
    return no_batch and is_real and not node.op.get_attr("adj_x")


def _by_one_matrix(node: Node) -> list[Any]:
    """Multiplies the rows of all matrices on the left, as one matrix, by that on the right."""
    (*others, depth), sides = node.input_shape(0), node.input_shape(1)[-2:]
    left = made_ops.reshape(node.inputs[0].any_form(), [node.count * int(np.prod(others)), depth])
    right = made_ops.reshape(node.inputs[1].value, sides)
    result = tf.matmul(left, right, transpose_b=node.op.get_attr("adj_y"))
    return [batched_values.Batch(node.count, node.shape(), flat=result)]


@rule("Einsum")
def einsum(node: Node) -> Sequence[BatchedValue] | None:
    """Sums products along named axes; the axis of replicas gets a name of its own."""
    terms, out = node.op.get_attr("equation").decode().replace(" ", "").split("->")
    name = next(letter for letter in string.ascii_letters if letter not in terms + out)
    tensors = [value.in_form("stacked") for value in node.inputs]
    terms = [
        term if isinstance(value, batched_values.Uniform) else name + term
        for term, value in zip(terms.split(","), node.inputs)
    ]
    if node.summed and all(term[0] == name for term in terms):
        return [batched_values.ReplicaSum(tf.einsum("%s->%s" % (",".join(terms), out), *tensors))]
    return node.from_stacked(tf.einsum("%s->%s" % (",".join(terms), name + out), *tensors))
