"""Rules for ops on the shapes of ragged values.

Most of them do in NumPy what the op does, with arrays of ints and `Sizes`. Where a result is
neither, Python raises a TypeError and the rule gives None: it is computed per replica.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from tpudist.tfcompat import functions, made_ops
from tpudist.virtual.vectorize.rules.node import IDENTITIES, rules_of
from tpudist.virtual.vectorize.values import batched_values, known_shapes
from tpudist.virtual.vectorize.values.known_shapes import Axes, Dims, Sizes, entries

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import Fn
    from tpudist.virtual.vectorize.rules.node import Node
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


#: {op type: rule for an op with an input that is a `Ragged` or a `Dims`}
RULES: dict[Any, Any] = {}

rule = rules_of(RULES)


def _dims(node: Node, numbers: Any, index: int = 0) -> BatchedValue:
    """The batched value of output `index`; its entries are `numbers`, an array."""
    dtype, flat = node.op.outputs[index].dtype, numbers.reshape([-1]).tolist()
    if any(isinstance(entry, Sizes) for entry in flat):
        return Dims(node.count, flat, dtype, scalar=not numbers.ndim)
    value = numbers.astype(dtype.as_numpy_dtype)
    return batched_values.Uniform(node.count, made_ops.constant(value, dtype))


def _array(numbers: Any, scalar: bool = False) -> np.ndarray:
    """An array of ints and `Sizes`, which NumPy passes on as objects."""
    array = np.empty([len(numbers)], object)
    array[:] = numbers
    return array.reshape([]) if scalar else array


def computed(*types: str) -> Callable[[Fn], Any]:
    """A decorator: registers a function that computes one output from the arrays of all inputs."""

    def register(compute: Fn) -> Fn:
        return rule(*types)(functools.partial(_apply, compute))

    return register


def _apply(compute: Fn, node: Node) -> Sequence[BatchedValue] | None:
    numbers, output = [entries(value) for value in node.inputs], node.op.outputs[0]
    if None in numbers or not output.dtype.is_integer or output.shape.rank not in (0, 1):
        return None
    arrays = [_array(each, tensor.shape.rank == 0) for each, tensor in zip(numbers, node.op.inputs)]
    try:
        return [_dims(node, np.asarray(compute(node, *arrays), object))]
    except (ArithmeticError, IndexError, TypeError):
        return None


@rule("Shape", "ShapeN")
def shapes(node: Node) -> Sequence[BatchedValue] | None:
    """Returns the shapes of values."""
    all_entries = [known_shapes.shape_entries(value) for value in node.inputs]
    if None in all_entries:
        return None
    return [_dims(node, _array(numbers), i) for i, numbers in enumerate(all_entries)]


@rule("Size")
def size(node: Node) -> Sequence[BatchedValue] | None:
    """Returns the number of elements of a value."""
    numbers = known_shapes.shape_entries(node.inputs[0])
    if not numbers or 0 in numbers:
        return None
    return [_dims(node, np.asarray(np.prod(_array(numbers)), object))]


@computed("Cast", *IDENTITIES)
def cast(node: Node, numbers: Any) -> object:
    """Returns the same numbers, maybe as another integer type."""
    return numbers


@computed("Reshape", "ExpandDims", "Squeeze")
def reshape(node: Node, numbers: Any, *unused: Any) -> object:
    """Turns a scalar into a vector of one number, or back."""
    return numbers.reshape([-1] * node.op.outputs[0].shape.rank)


@computed("Prod")
def prod(node: Node, numbers: Any, axis: object) -> object:
    """Multiplies the entries of a vector."""
    return np.prod(numbers, keepdims=node.op.get_attr("keep_dims"))


@computed("Mul")
def multiply(node: Node, one: Any, other: object) -> object:
    """Multiplies numbers of rows by ints."""
    return one * other


@computed("FloorDiv")
def floor_div(node: Node, one: Any, other: object) -> object:
    """Divides ints by ints, and numbers of rows by 1."""
    return one // other


@computed("Slice")
def slice_(node: Node, numbers: Any, begin: Any, size: Any) -> object:
    """Slices a shape."""
    return numbers[begin[0] :][: None if size[0] == -1 else size[0]]


@computed("Pack")
def pack(node: Node, *numbers: Any) -> object:
    """Makes a shape of scalars."""
    return np.concatenate([each.reshape([1]) for each in numbers])


@computed("ConcatV2")
def concatenate(node: Node, *numbers: Any) -> object:
    """Concatenates shapes."""
    return np.concatenate(numbers[:-1])


@computed("StridedSlice")
def strided_slice(node: Node, numbers: Any, begin: Any, end: Any, stride: Any) -> object:
    """Slices a shape, or takes one entry of it."""
    if node.op.get_attr("ellipsis_mask") or node.op.get_attr("new_axis_mask"):
        raise TypeError
    if node.op.get_attr("shrink_axis_mask"):
        return numbers[begin[0]]
    first = None if node.op.get_attr("begin_mask") else begin[0]
    last = None if node.op.get_attr("end_mask") else end[0]
    return numbers[first : last : stride[0]]


@computed("GatherV2")
def gather(node: Node, numbers: Any, indices: Any, axis: object) -> object:
    """Gathers entries of a shape."""
    return numbers[indices.astype(int)]


@computed("DynamicStitch")
def dynamic_stitch(node: Node, *indices_and_numbers: Any) -> object:
    """Replaces some entries of a shape."""
    half = len(indices_and_numbers) // 2
    indices, numbers = (
        np.concatenate([each.reshape([-1]) for each in part])
        for part in (indices_and_numbers[:half], indices_and_numbers[half:])
    )
    stitched = np.empty([max(indices) + 1], object)
    stitched[indices.astype(int)] = numbers
    return stitched


@rule("ConcatOffset")
def concat_offsets(node: Node) -> list[Any] | None:
    """Returns where the parts of a concatenation begin, along an axis that is not the rows'."""
    axis, parts = node.constant(0), [entries(value) for value in node.inputs[1:]]
    if axis is None or None in parts or any(isinstance(shape[axis], Sizes) for shape in parts):
        return None
    outputs, start = [], 0
    for i, shape in enumerate(parts):
        offset = [start if j == axis else 0 for j in range(len(shape))]
        outputs.append(_dims(node, _array(offset), i))
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
