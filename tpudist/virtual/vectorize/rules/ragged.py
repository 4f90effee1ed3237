"""Rules for ragged values: replicas may have unequal numbers of rows.

An op that treats each row by itself is done once, on the rows of all replicas. For an op that
mixes the rows of a replica the rules return None, and it is done once per replica, but for sums
over rows, see :mod:`row_sums`. The rules for symbolic shapes are in :mod:`dims`;
:func:`apply_ragged_rule` chooses.
"""

from __future__ import annotations

import fractions
from typing import TYPE_CHECKING, Any, Callable

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import made_ops
from tpudist.virtual.vectorize.rules import dims, elementwise, examples
from tpudist.virtual.vectorize.rules.node import IDENTITIES, rules_of
from tpudist.virtual.vectorize.values import batched_values, layouts, ragged_values
from tpudist.virtual.vectorize.values.known_shapes import Axes, Dims, Sizes, entries
from tpudist.virtual.vectorize.values.ragged_values import Ragged

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import Fn, Tensor
    from tpudist.virtual.vectorize.rules.node import Node
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


#: {op type: rule for an op with a `Ragged` input, or with a shape that is a `Dims`}
RULES: dict[Any, Any] = {}

rule = rules_of(RULES)

#: The classes of batched values that need these rules.
RAGGED_KINDS = (Axes, Dims, Ragged)

#: Ops whose rules here take a shape that is a `Dims`, even if no input is ragged.
_SHAPE_TAKING = ("BroadcastTo", "Fill", "Tile")

#: Ops that return shapes.
_SHAPE_OPS = ("Shape", "ShapeN", "Size")


def apply_ragged_rule(node: Node) -> Sequence[BatchedValue] | None:
    """The batched outputs of a `Node` with an input of `RAGGED_KINDS`; None without a rule."""
    for value in node.inputs:
        if isinstance(value, batched_values.PerReplicaTensors) and not isinstance(value, Axes):
            return None
        if isinstance(value, layouts.StackedList):
            return None
    first, second, others = dims.RULES, RULES, _SHAPE_TAKING
    if any(isinstance(value, (Axes, Ragged)) for value in node.inputs):
        first, second, others = RULES, dims.RULES, _SHAPE_OPS
    outputs = first[node.op.type](node) if node.op.type in first else None
    if outputs is None and node.op.type in others:
        outputs = second[node.op.type](node)
    return outputs


def row_shapes(node: Node) -> Any:
    """The shape of a row of each output; None if an output is not a tensor of unknown rows."""
    shapes = [shape.as_list() if shape.rank else [0] for shape in node.shapes]
    known = all(shape[0] is None and None not in shape[1:] for shape in shapes)
    return [shape[1:] for shape in shapes] if known else None


def ragged_outputs(node: Node, sizes: Sizes, outputs: Any) -> list[Any]:
    """The outputs of an op that are the rows of all replicas."""
    pairs = list(zip(row_shapes(node), outputs))
    for row_shape, rows in pairs:
        rows.set_shape([None] + row_shape)
    return [Ragged(node.count, row_shape, sizes, rows=rows) for row_shape, rows in pairs]


def on_all_rows(node: Node) -> Sequence[BatchedValue] | None:
    """Adds the op on the rows of all replicas; None if an input has neither rows nor one value."""
    sizes = next((value.sizes for value in node.inputs if isinstance(value, Ragged)), None)
    if sizes is None or row_shapes(node) is None:
        return None
    inputs: list[Tensor] = []
    for value in node.inputs:
        if isinstance(value, Ragged):
            inputs.append(ragged_values.checked_rows(value, sizes))
        elif isinstance(value, Dims) and not value.scalar and value.entries[0] == sizes:
            inputs.append(full_shape(value.entries, value.dtype))  # of all rows, for one replica's
        elif isinstance(value, batched_values.Uniform):
            inputs.append(value.value)
        else:
            return None
    return ragged_outputs(node, sizes, node.add_op(*inputs))


def full_shape(numbers: Any, dtype: object) -> Tensor:
    """The shape of all replicas' rows; `numbers` are the entries of one replica's shape."""
    return tf.cast(tf.stack([numbers[0].total()] + numbers[1:]), dtype)


def by_row(*types: str) -> Callable[[Callable[[Node], Any]], Any]:
    """A decorator: registers a function that says whether an op treats each row by itself."""

    def register(is_by_row: Callable[[Node], Any]) -> Fn:
        return rule(*types)(lambda node: on_all_rows(node) if is_by_row(node) else None)

    return register


def are_ragged(node: Node, *indices: Any) -> bool:
    """Whether all these inputs are ragged."""
    return all(isinstance(node.inputs[i], Ragged) for i in indices)


def is_inside(axis: Any, rank: int) -> bool:
    """Whether `axis`, a number, an array of them or None, is known and not that of the rows."""
    return axis is not None and all(one % rank for one in np.reshape(axis, [-1]).tolist())


def within_rows(node: Node, axes: Any) -> bool:
    """Whether input 0 is ragged, and none of `axes` is the axis of its rows."""
    return are_ragged(node, 0) and is_inside(axes, len(node.inputs[0].shape))


def broadcast_input(node: Node, index: int, rank: int, sizes: Sizes) -> Tensor | None:
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
    return tf.gather(made_ops.reshape(value.stacked(), [node.count] + row), sizes.owners())


@rule("SoftmaxCrossEntropyWithLogits", *elementwise.BROADCAST)
def broadcast(node: Node) -> Sequence[BatchedValue] | None:
    """Batches elementwise ops that broadcast their inputs."""
    shapes, ragged = row_shapes(node), [value for value in node.inputs if isinstance(value, Ragged)]
    sizes = ragged_values.broadcast_sizes(ragged) if shapes and ragged else None
    if sizes is None:
        return None
    rank = len(shapes[0]) + 1 if node.op.type in elementwise.BROADCAST else 2
    tensors = [broadcast_input(node, i, rank, sizes) for i in range(len(node.inputs))]
    if any(tensor is None for tensor in tensors):
        return None
    return ragged_outputs(node, sizes, node.add_op(*tensors))


# Ops that treat each row by itself, and when they do.

by_row(*elementwise.UNARY, *IDENTITIES)(lambda node: True)
by_row("Select", *elementwise.SAME_SHAPE)(lambda node: are_ragged(node, *range(len(node.inputs))))
by_row("AvgPool3DGrad", "AvgPoolGrad")(lambda node: are_ragged(node, 1))
by_row("Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput")(
    lambda node: are_ragged(node, 2)
)
by_row("Softmax", "LogSoftmax", "TopKV2")(lambda node: within_rows(node, -1))
by_row("All", "Any", "ArgMax", "ArgMin", "Max", "Min", "Prod", "Cumsum", "Cumprod", "ReverseV2")(
    lambda node: within_rows(node, node.constant(1))
)
by_row("ConcatV2")(
    lambda node: (
        are_ragged(node, *range(len(node.inputs) - 1))
        and within_rows(node, node.constant(len(node.inputs) - 1))
    )
)
by_row("OneHot")(lambda node: node.op.get_attr("axis") != 0 and are_ragged(node, 0))
by_row("ExpandDims")(
    lambda node: are_ragged(node, 0) and is_inside(node.constant(1), len(node.inputs[0].shape) + 1)
)
by_row("Squeeze")(lambda node: within_rows(node, node.op.get_attr("squeeze_dims") or 0))
by_row("Transpose")(lambda node: node.constant(1) is not None and not node.constant(1)[0])
by_row("Unpack")(lambda node: within_rows(node, node.op.get_attr("axis")))
by_row("Split")(lambda node: is_inside(node.constant(0), len(node.inputs[1].shape)))
by_row("SplitV")(lambda node: within_rows(node, node.constant(2)))


@by_row(*[t for t in examples.ROW_OPS if t != "SoftmaxCrossEntropyWithLogits"])
def _row_by_row(node: Node) -> bool:
    first = examples.NUM_EXAMPLE_INPUTS.get(node.op.type, len(node.inputs))
    return are_ragged(node, *range(first)) and node.is_uniform(*range(first, len(node.inputs)))


@by_row("Pad", "PadV2", "MirrorPad")
def _pad(node: Node) -> bool:
    widths = node.constant(1)
    return widths is not None and not widths[0].any()


@by_row("Pack")
def _pack(node: Node) -> bool:
    ragged = are_ragged(node, *range(len(node.inputs)))
    return ragged and is_inside(node.op.get_attr("axis"), len(node.inputs[0].shape) + 1)


@by_row("GatherV2", "ResourceGather")
def _gather(node: Node) -> bool:
    axis = node.constant(2) if len(node.inputs) > 2 else 0
    if axis is None or node.op.get_attr("batch_dims"):
        return False
    return node.is_uniform(1) and within_rows(node, axis) or node.is_uniform(0) and not int(axis)


@by_row("Slice")
def _slice(node: Node) -> bool:
    begin, size = node.constant(1), entries(node.inputs[2])
    if begin is None or begin[0] or not size:
        return False
    return size[0] == -1 or isinstance(size[0], Sizes)


@by_row("StridedSlice", "StridedSliceGrad")
def _strided_slice(node: Node) -> bool:
    """Whether it leaves the axis of the rows as it is."""
    masks = [node.op.get_attr(n) for n in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")]
    if any(mask & 1 for mask in masks[1:]) or node.constant(3) is None:
        return False
    if masks[0] & 1:
        num_sliced = node.constant(3).size - 1 - bin(masks[1]).count("1")
        rank = len(node.inputs[0].shape) if len(node.inputs) == 4 else node.input_shape(0)[0]
        return bool(num_sliced < rank)
    no_bounds = node.op.get_attr("begin_mask") & node.op.get_attr("end_mask") & 1
    return bool(no_bounds and node.constant(3)[0] == 1)


# Ops that make or change numbers of rows.


@rule("Reshape")
def reshape(node: Node) -> list[Any] | None:
    """Reshapes each row, or all rows to another number of rows."""
    value, shapes, target = node.inputs[0], row_shapes(node), entries(node.inputs[1])
    if not isinstance(value, Ragged) or not shapes or not target:
        return None
    before, after = [int(tf.TensorShape(s).num_elements()) for s in (value.shape[1:], shapes[0])]
    if not before or not after:
        return None
    sizes = value.sizes.times(fractions.Fraction(before, after))
    if target[0] != -1 and target[0] != sizes:
        return None
    rows = tf.reshape(value.rows(), made_ops.constant([-1] + shapes[0]))
    return ragged_outputs(node, sizes, [rows])


@rule("Tile")
def tile(node: Node) -> Sequence[BatchedValue] | None:
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
    return ragged_outputs(node, multiples[0], [tf.tile(rows, tf.stack([first] + multiples[1:]))])


@rule("Fill", "BroadcastTo")
def fill(node: Node) -> Sequence[BatchedValue] | None:
    """Fills all rows with one value, or broadcasts one row to them."""
    shape, value = (0, 1) if node.op.type == "Fill" else (1, 0)
    target = entries(node.inputs[shape])
    if not target or not isinstance(target[0], Sizes) or row_shapes(node) is None:
        return None
    rows = broadcast_input(node, value, len(target), target[0])
    if rows is None:
        return None
    return ragged_outputs(node, target[0], [tf.broadcast_to(rows, full_shape(target, tf.int32))])
