"""Rules for ragged values, of which replicas may have unequal numbers of rows.

An op that treats each row by itself is done once, on the rows of all replicas. For an op that
mixes the rows of a replica the rules return None, and it is done once per replica, but for sums
over rows, see :mod:`row_sums`. The rules for symbolic shapes are in :mod:`dims`;
:func:`apply_ragged_rule` chooses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.virtual import constants
from tpudist.virtual.vectorize.rules import dims, elementwise, examples
from tpudist.virtual.vectorize.rules.node import IDENTITIES, rules_of
from tpudist.virtual.vectorize.values import (
    batched_values,
    known_shapes,
    ragged_values,
    tensor_lists,
)
from tpudist.virtual.vectorize.values.known_shapes import Axes, Dims, Sizes, entries
from tpudist.virtual.vectorize.values.ragged_values import Ragged

if TYPE_CHECKING:
    from tpudist.virtual.vectorize.rules.node import Node


#: {op type: rule for an op with a `Ragged` input, or with a shape that is a `Dims`}
RULES: dict[Any, Any] = {}

rule = rules_of(RULES)

#: The classes of batched values that need these rules.
RAGGED_KINDS = (Axes, Dims, Ragged)

#: Ops whose output is ragged, even if no input is.
SELECTING = ("Where",)

#: Ops whose rules here take a shape that is a `Dims`, even if no input is ragged.
_SHAPE_TAKING = ("BroadcastTo", "Fill", "Range", "Tile")

#: Ops that return shapes.
_SHAPE_OPS = ("Shape", "ShapeN", "Size")


def apply_ragged_rule(node: Node) -> Any:
    """The batched outputs of a `Node`; None if no rule covers it.

    The class of one of its inputs is in `RAGGED_KINDS`, or the type of its op in `SELECTING`.
    """
    for value in node.inputs:
        if isinstance(value, batched_values.PerReplicaTensors) and not isinstance(value, Axes):
            return None
        if isinstance(value, tensor_lists.StackedList):
            return None
    first, second, others = dims.RULES, RULES, _SHAPE_TAKING
    has_rows = any(isinstance(value, (Axes, Ragged)) for value in node.inputs)
    if has_rows or node.op.type in SELECTING:
        first, second, others = RULES, dims.RULES, _SHAPE_OPS  # type: ignore[assignment]
    outputs = first[node.op.type](node) if node.op.type in first else None
    if outputs is None and node.op.type in others:
        outputs = second[node.op.type](node)
    return outputs


def row_shapes(node: Node) -> Any:
    """The shape of a row of each output; None if an output is not a tensor of unknown rows."""
    shapes = [shape.as_list() if shape.rank else [0] for shape in node.shapes]
    known = all(shape[0] is None and None not in shape[1:] for shape in shapes)
    return [shape[1:] for shape in shapes] if known else None


def on_rows(node: Node, sizes: Sizes, *inputs: Any) -> list[Any]:
    """Adds the op with `inputs`, tensors of all rows; returns its ragged outputs."""
    return [
        Ragged(node.count, row_shape, sizes, rows=output)
        for row_shape, output in zip(row_shapes(node), node.add_op(*inputs))
    ]


def on_all_rows(node: Node) -> Any:
    """Adds the op on the rows of all replicas; inputs that are not ragged must be uniform."""
    ragged = [value for value in node.inputs if isinstance(value, Ragged)]
    if not ragged or row_shapes(node) is None:
        return None
    if not all(isinstance(v, (Ragged, batched_values.Uniform)) for v in node.inputs):
        return None
    sizes = ragged[0].sizes
    return on_rows(
        node,
        sizes,
        *[
            ragged_values.checked_rows(value, sizes) if isinstance(value, Ragged) else value.value
            for value in node.inputs
        ],
    )


def _all_ragged(node: Node, *indices: Any) -> bool:
    """Whether all these inputs are ragged."""
    return all(isinstance(node.inputs[i], Ragged) for i in indices)


def broadcast_input(node: Node, index: int, rank: int, sizes: Sizes) -> Any:
    """An input in a shape that broadcasts to rows with `rank` axes; None if not known how."""
    value, shape = node.inputs[index], node.input_shape(index)
    if isinstance(value, Ragged):
        return ragged_values.repeat_rows(value, sizes) if len(value.shape) == rank else None
    if shape is None or (len(shape) == rank and shape[0] != 1):
        return None
    if isinstance(value, batched_values.Uniform):
        return value.value
    if not isinstance(value, batched_values.Batch):
        return None
    row = shape[1:] if len(shape) == rank else [1] * (rank - 1 - len(shape)) + shape
    return tf.gather(constants.reshape(value.stacked(), [node.count] + row), sizes.owners())


@rule("Cast", *(IDENTITIES + tuple(elementwise.UNARY)))
def unary(node: Node) -> Any:
    """Batches elementwise ops with one input."""
    return on_all_rows(node)


@rule("SoftmaxCrossEntropyWithLogits", *elementwise.BROADCAST)
def broadcast(node: Node) -> Any:
    """Batches elementwise ops that broadcast their inputs."""
    shapes, ragged = row_shapes(node), [value for value in node.inputs if isinstance(value, Ragged)]
    sizes = ragged_values.broadcast_sizes(ragged) if shapes and ragged else None
    if sizes is None:
        return None
    rank = len(shapes[0]) + 1 if node.op.type in elementwise.BROADCAST else 2
    tensors = [broadcast_input(node, i, rank, sizes) for i in range(len(node.inputs))]
    if any(tensor is None for tensor in tensors):
        return None
    return on_rows(node, sizes, *tensors)


@rule("Select", *elementwise.SAME_SHAPE)
def same_shape(node: Node) -> Any:
    """Batches elementwise ops whose inputs have one shape."""
    return on_all_rows(node) if _all_ragged(node, *range(len(node.inputs))) else None


@rule(*[t for t in examples.ROW_OPS if t != "SoftmaxCrossEntropyWithLogits"])
def row_by_row(node: Node) -> Any:
    """Batches ops that take examples along their first axis, and parameters."""
    first = examples.NUM_EXAMPLE_INPUTS.get(node.op.type, len(node.inputs))
    if not _all_ragged(node, *range(first)) or not node.is_uniform(*range(first, len(node.inputs))):
        return None
    return on_all_rows(node)


@rule("LookupTableFindV2")
def table_lookup(node: Node) -> list[Any] | None:
    """Looks keys up in a table, each by itself."""
    shapes, (table, keys, default) = row_shapes(node), node.inputs
    if not node.is_uniform(0, 2) or not _all_ragged(node, 1) or shapes is None:
        return None
    (values,) = on_rows(node, keys.sizes, table.value, keys.rows(), default.value)
    values.rows().set_shape([None] + shapes[0])
    return [values]


@rule("Softmax", "LogSoftmax", "TopKV2")
def last_axis(node: Node) -> Any:
    """Batches ops along the last axis."""
    return on_all_rows(node) if _all_ragged(node, 0) and len(node.inputs[0].shape) > 1 else None


@rule("All", "Any", "ArgMax", "ArgMin", "Max", "Min", "Prod", "Cumsum", "Cumprod", "ReverseV2")
def along_axes(node: Node) -> Any:
    """Batches ops along axes of a row."""
    return on_all_rows(node) if within_rows(node, node.constant(1)) else None


def within_rows(node: Node, axes: Any) -> bool:
    """Whether none of `axes`, an array or None, is the axis of the rows."""
    if axes is None or not _all_ragged(node, 0):
        return False
    return all(axis % len(node.inputs[0].shape) for axis in axes.reshape([-1]).tolist())


@rule("Transpose")
def transpose(node: Node) -> Any:
    """Transposes the axes of a row."""
    order = node.constant(1)
    return on_all_rows(node) if order is not None and not order[0] % len(order) else None


@rule("Tile")
def tile(node: Node) -> Any:
    """Repeats values along axes of a row, or one row as often as there are rows."""
    times, multiples = node.constant(1), entries(node.inputs[1])
    if times is not None:
        return on_all_rows(node) if times[0] == 1 else None
    if not multiples or not isinstance(multiples[0], Sizes) or row_shapes(node) is None:
        return None
    rows = broadcast_input(node, 0, len(multiples), multiples[0])
    if rows is None or isinstance(node.inputs[0], Ragged):
        return None
    first = multiples[0].total() if isinstance(node.inputs[0], batched_values.Uniform) else 1
    return _ragged(node, tf.tile(rows, tf.stack([first] + multiples[1:])), multiples[0])


def _ragged(node: Node, rows: Any, sizes: Sizes) -> list[Any]:
    """The ragged output that has these rows."""
    row_shape = row_shapes(node)[0]
    rows.set_shape([None] + row_shape)
    return [Ragged(node.count, row_shape, sizes, rows=rows)]


@rule("Pad", "PadV2", "MirrorPad")
def pad(node: Node) -> Any:
    """Pads each row."""
    widths = node.constant(1)
    return on_all_rows(node) if widths is not None and not widths[0].any() else None


@rule("ConcatV2")
def concatenate(node: Node) -> Any:
    """Concatenates each row with others."""
    axis, last = node.constant(len(node.inputs) - 1), len(node.inputs) - 1
    if axis is None or not _all_ragged(node, *range(last)):
        return None
    return on_all_rows(node) if axis % len(node.inputs[0].shape) else None


@rule("Pack")
def pack(node: Node) -> Any:
    """Stacks each row with others along a new axis."""
    if not _all_ragged(node, *range(len(node.inputs))):
        return None
    return on_all_rows(node) if node.op.get_attr("axis") % (len(node.inputs[0].shape) + 1) else None


@rule("Unpack")
def unpack(node: Node) -> Any:
    """Unstacks each row along an axis."""
    return on_all_rows(node) if node.op.get_attr("axis") % len(node.inputs[0].shape) else None


@rule("Split", "SplitV")
def split(node: Node) -> Any:
    """Splits each row along an axis."""
    value, axis = (1, 0) if node.op.type == "Split" else (0, 2)
    where = node.constant(axis)
    if where is None or not _all_ragged(node, value):
        return None
    return on_all_rows(node) if int(where) % len(node.inputs[value].shape) else None


@rule("Reshape")
def reshape(node: Node) -> list[Any] | None:
    """Reshapes each row, or all rows to another number of rows."""
    value, shapes, target = node.inputs[0], row_shapes(node), entries(node.inputs[1])
    if not isinstance(value, Ragged) or not shapes or not target:
        return None
    before, after = [int(tf.TensorShape(s).num_elements()) for s in (value.shape[1:], shapes[0])]
    if not before or not after:
        return None
    sizes = value.sizes.times(ragged_values.ratio(before, after))
    if target[0] != -1 and not known_shapes.same_entry(target[0], sizes):
        return None
    rows = tf.reshape(value.rows(), constants.constant([-1] + shapes[0]))
    return [Ragged(node.count, shapes[0], sizes, rows=rows)]


@rule("ExpandDims")
def expand_dims(node: Node) -> Any:
    """Inserts an axis into each row."""
    axis = node.constant(1)
    if axis is None or not _all_ragged(node, 0):
        return None
    return on_all_rows(node) if int(axis) % (len(node.inputs[0].shape) + 1) else None


@rule("Squeeze")
def squeeze(node: Node) -> Any:
    """Drops axes of size 1 from each row."""
    axes, rank = node.op.get_attr("squeeze_dims"), len(node.inputs[0].shape)
    return on_all_rows(node) if axes and all(axis % rank for axis in axes) else None


@rule("OneHot")
def one_hot(node: Node) -> Any:
    """Makes one-hot vectors for the elements of each row."""
    inside = node.op.get_attr("axis") and node.is_uniform(1, 2, 3)
    return on_all_rows(node) if inside and _all_ragged(node, 0) else None


@rule("StridedSlice", "StridedSliceGrad")
def strided_slice(node: Node) -> Any:
    """Slices each row; also the gradient of that."""
    is_gradient = node.op.type == "StridedSliceGrad"
    bounds = node.inputs[1:4]
    value = node.inputs[4 if is_gradient else 0]
    if not isinstance(value, Ragged) or not node.is_uniform(1, 2, 3) or row_shapes(node) is None:
        return None
    if not _takes_all_rows(node, bounds):
        return None
    if not is_gradient:
        return on_all_rows(node)
    shape = entries(node.inputs[0])
    if not shape or not known_shapes.same_entry(shape[0], value.sizes):
        return None
    bounds = [bound.value for bound in bounds]
    full_shape = tf.cast(tf.stack([value.sizes.total()] + shape[1:]), node.op.inputs[0].dtype)
    return on_rows(node, value.sizes, full_shape, *(bounds + [value.rows()]))


def _takes_all_rows(node: Node, bounds: Any) -> bool:
    """Whether a strided slice leaves the axis of the rows as it is."""
    masks = [node.op.get_attr(n) for n in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")]
    if any(mask & 1 for mask in masks[1:]) or node.constant(3) is None:
        return False
    if masks[0] & 1:
        num_sliced = node.constant(3).size - 1 - bin(masks[1]).count("1")
        rank = len(node.inputs[0].shape) if len(node.inputs) == 4 else node.input_shape(0)[0]
        return num_sliced < rank
    no_bounds = node.op.get_attr("begin_mask") & node.op.get_attr("end_mask") & 1
    return bool(no_bounds and node.constant(3)[0] == 1)


@rule("Slice")
def slice_(node: Node) -> Any:
    """Slices each row."""
    begin, size, value = node.constant(1), entries(node.inputs[2]), node.inputs[0]
    if begin is None or not size or begin[0] or not isinstance(value, Ragged):
        return None
    if row_shapes(node) is None or isinstance(size[0], int) and size[0] != -1:
        return None
    if isinstance(size[0], Sizes) and not known_shapes.same_entry(size[0], value.sizes):
        return None
    full_shape = constants.constant([-1] + size[1:], node.op.inputs[2].dtype)
    return on_rows(node, value.sizes, value.rows(), node.inputs[1].value, full_shape)


@rule("Fill", "BroadcastTo")
def fill(node: Node) -> Any:
    """Fills all rows with one value, or broadcasts one row to them."""
    shape, value = (0, 1) if node.op.type == "Fill" else (1, 0)
    target = entries(node.inputs[shape])
    if not target or not isinstance(target[0], Sizes) or row_shapes(node) is None:
        return None
    rows = broadcast_input(node, value, len(target), target[0])
    if rows is None:
        return None
    full_shape = tf.stack([target[0].total()] + target[1:])
    return _ragged(node, tf.broadcast_to(rows, full_shape), target[0])


@rule("Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput")
def convolution_input_gradient(node: Node) -> Any:
    """The gradient of a convolution for its examples."""
    if not node.is_uniform(1) or not _all_ragged(node, 2):
        return None
    return _with_output_shape(node, node.inputs[2], node.inputs[1].value)


@rule("AvgPool3DGrad", "AvgPoolGrad")
def average_pool_gradient(node: Node) -> Any:
    """The gradient of an average pool."""
    return _with_output_shape(node, node.inputs[1]) if _all_ragged(node, 1) else None


def _with_output_shape(node: Node, gradient: Any, *parameters: Any) -> Any:
    """Adds an op whose input 0 is the shape of its output, a shape like that of `gradient`."""
    target = entries(node.inputs[0])
    if not target or not known_shapes.same_entry(target[0], gradient.sizes) or not row_shapes(node):
        return None
    size = tf.stack([gradient.sizes.total()] + target[1:])
    return on_rows(node, gradient.sizes, size, *(parameters + (gradient.rows(),)))


@rule("Range")
def range_(node: Node) -> Any:
    """Counts from 0 to the number of rows, in each replica."""
    start, step, limit = node.constant(0), node.constant(2), entries(node.inputs[1])
    if start is None or start or step is None or step != 1 or not isinstance(limit[0], Sizes):
        return None
    sizes = limit[0]
    starts = tf.gather(ragged_values.starts(sizes.tensor()), sizes.owners())
    return _ragged(node, tf.cast(tf.range(sizes.total()) - starts, node.op.outputs[0].dtype), sizes)
