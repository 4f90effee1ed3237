"""Rules for ops on the shapes of ragged values.

They return None where the result is neither an int nor a multiple of numbers of rows; it is then
computed per replica, as any other number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual import constants
from tpudist.virtual.vectorize.rules.node import IDENTITIES, rules_of
from tpudist.virtual.vectorize.values import batched_values, known_shapes
from tpudist.virtual.vectorize.values.known_shapes import Axes, Dims, Sizes, entries

if TYPE_CHECKING:
    from tpudist.virtual.annotations import BatchedValue
    from tpudist.virtual.vectorize.rules.node import Node


#: {op type: rule for an op with an input that is a `Ragged` or a `Dims`}
RULES: dict[Any, Any] = {}

rule = rules_of(RULES)


def _dims(node: Node, numbers: Any, index: int = 0, scalar: bool = False) -> BatchedValue:
    """The batched value of output `index`, of which `numbers` are the entries."""
    dtype = node.op.outputs[index].dtype
    if not any(isinstance(entry, Sizes) for entry in numbers):
        value = numbers[0] if scalar else numbers
        constant = constants.constant(value, dtype) if numbers else tf.zeros([0], dtype)
        return batched_values.Uniform(node.count, constant)
    return Dims(node.count, numbers, dtype, scalar)


@rule("Shape", "ShapeN")
def shapes(node: Node) -> Any:
    """Returns the shapes of values."""
    all_entries = [known_shapes.shape_entries(value) for value in node.inputs]
    if None in all_entries:
        return None
    return [_dims(node, numbers, i) for i, numbers in enumerate(all_entries)]


@rule("Size")
def size(node: Node) -> Any:
    """Returns the number of elements of a value."""
    numbers = known_shapes.shape_entries(node.inputs[0])
    return numbers and _product(node, numbers)


@rule("Prod")
def prod(node: Node) -> Any:
    """Multiplies the entries of a vector."""
    numbers = isinstance(node.inputs[0], Dims) and entries(node.inputs[0])
    if not numbers or node.op.get_attr("keep_dims") or node.constant(1) is None:
        return None
    return _product(node, numbers)


@rule("Mul")
def multiply(node: Node) -> Any:
    """Multiplies a number of rows by an int."""
    input_entries = [entries(value) for value in node.inputs]
    if None in input_entries or any(node.input_shape(i) for i in (0, 1)):
        return None
    return _product(node, input_entries[0] + input_entries[1])


def _product(node: Node, numbers: Any) -> list[Any] | None:
    """The product of entries of which at most one is a number of rows."""
    sizes = [entry for entry in numbers if isinstance(entry, Sizes)]
    factor = 1
    for entry in numbers:
        factor *= 1 if isinstance(entry, Sizes) else entry
    if len(sizes) > 1 or not factor:
        return None
    return [_dims(node, [sizes[0].times(factor)] if sizes else [factor], scalar=True)]


@rule("FloorDiv")
def floor_div(node: Node) -> list[Any] | None:
    """Divides ints by ints, and numbers of rows by 1."""
    input_entries = [entries(value) for value in node.inputs]
    if None in input_entries or node.input_shape(0) != node.input_shape(1):
        return None
    if any(isinstance(entry, Sizes) or not entry for entry in input_entries[1]):
        return None
    if any(isinstance(a, Sizes) and b != 1 for a, b in zip(*input_entries)):
        return None
    quotients = [a if isinstance(a, Sizes) else a // b for a, b in zip(*input_entries)]
    return [_dims(node, quotients, scalar=not node.input_shape(0))]


@rule("Cast", *IDENTITIES)
def cast(node: Node) -> Any:
    """Returns the same numbers, maybe as another integer type."""
    value = node.inputs[0]
    is_integer = node.op.outputs[0].dtype in (tf.int32, tf.int64)
    return [_dims(node, value.entries, scalar=value.scalar)] if is_integer else None


@rule("Pack")
def pack(node: Node) -> list[Any] | None:
    """Makes a shape of scalars."""
    input_entries = [entries(value) for value in node.inputs]
    if None in input_entries or any(node.input_shape(i) for i in range(len(input_entries))):
        return None
    return [_dims(node, [one for (one,) in input_entries])]


@rule("ConcatV2")
def concatenate(node: Node) -> Any:
    """Concatenates shapes."""
    input_entries = [entries(value) for value in node.inputs[:-1]]
    return None if None in input_entries else [_dims(node, sum(input_entries, []))]


@rule("StridedSlice")
def strided_slice(node: Node) -> list[Any] | None:
    """Slices a shape, or takes one entry of it."""
    bounds = [node.constant(i) for i in (1, 2, 3)]
    masks = {name: node.op.get_attr(name) for name in ("ellipsis_mask", "new_axis_mask")}
    if any(masks.values()) or not _is_vector(node, 0):
        return None
    if any(bound is None or bound.size != 1 for bound in bounds):
        return None
    begin, end, stride = [int(bound[0]) for bound in bounds]
    if node.op.get_attr("shrink_axis_mask"):
        return [_dims(node, [node.inputs[0].entries[begin]], scalar=True)]
    kept = slice(
        None if node.op.get_attr("begin_mask") else begin,
        None if node.op.get_attr("end_mask") else end,
        stride,
    )
    return [_dims(node, node.inputs[0].entries[kept])]


def _is_vector(node: Node, index: int) -> bool:
    return isinstance(node.inputs[index], Dims) and not node.inputs[index].scalar


@rule("Slice")
def slice_(node: Node) -> list[Any] | None:
    """Slices a shape."""
    begin, size = node.constant(1), node.constant(2)
    if not _is_vector(node, 0) or begin is None or size is None:
        return None
    (begin,), (size,) = begin.tolist(), size.tolist()
    return [_dims(node, node.inputs[0].entries[begin:][: None if size < 0 else size])]


@rule("GatherV2")
def gather(node: Node) -> list[Any] | None:
    """Gathers entries of a shape."""
    indices = node.constant(1)
    if not _is_vector(node, 0) or indices is None or indices.ndim > 1:
        return None
    gathered = [node.inputs[0].entries[index] for index in indices.reshape([-1]).tolist()]
    return [_dims(node, gathered, scalar=not indices.ndim)]


@rule("Reshape", "ExpandDims", "Squeeze")
def reshape(node: Node) -> list[Any] | None:
    """Turns a scalar into a vector of one number, or back."""
    shape = node.shape()
    if shape is None or len(shape) > 1:
        return None
    return [_dims(node, node.inputs[0].entries, scalar=not shape)]


@rule("DynamicStitch")
def dynamic_stitch(node: Node) -> list[Any] | None:
    """Replaces some entries of a shape."""
    half = len(node.inputs) // 2
    indices = [node.constant(i) for i in range(half)]
    input_entries = [entries(value) for value in node.inputs[half:]]
    if None in input_entries or any(index is None for index in indices):
        return None
    stitched: dict[Any, Any] = {}
    for index, values in zip(indices, input_entries):
        stitched.update(zip(index.reshape([-1]).tolist(), values))
    return [_dims(node, [stitched[i] for i in range(len(stitched))])]


@rule("ConcatOffset")
def concat_offsets(node: Node) -> Any:
    """Returns where the parts of a concatenation begin, along an axis that is not the rows'."""
    axis, parts = node.constant(0), [entries(value) for value in node.inputs[1:]]
    if axis is None or None in parts or any(isinstance(shape[axis], Sizes) for shape in parts):
        return None
    outputs, start = [], 0
    for i, shape in enumerate(parts):
        offset = [start if j == axis else 0 for j in range(len(shape))]
        outputs.append(_dims(node, offset, i))
        start += shape[axis]
    return outputs


@rule("BroadcastGradientArgs")
def broadcast_axes(node: Node) -> list[Any] | None:
    """Returns the axes over which gradients are summed; see `known_shapes.Axes`."""
    input_entries = [entries(value) for value in node.inputs]
    if None in input_entries:
        return None
    copies: list[Any] = []

    def make(index: int) -> list[Any]:
        if not copies:
            pairs = zip(*[value.per_replica() for value in node.inputs])
            copies.extend(functions.copy_op(node.op, pair).outputs for pair in pairs)
        return [outputs[index] for outputs in copies]

    return [Axes(node.count, target, lambda i=i: make(i)) for i, target in enumerate(input_entries)]
