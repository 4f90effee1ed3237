"""Rules for ops on shapes of ragged values.

They give None where a number is no longer an int or a number of rows; it is computed
per replica then, as any other number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual import constants
from tpudist.virtual.vectorize import batched_values, symbolic_shapes
from tpudist.virtual.vectorize.rules.node import PASSES, rules_of
from tpudist.virtual.vectorize.symbolic_shapes import Axes, Dims, Sizes, entries

if TYPE_CHECKING:
    from typing import Any

    from tpudist.virtual.annotations import BatchedValue
    from tpudist.virtual.vectorize.rules.node import Node


#: {op type: rule for inputs of which some are `Ragged` or `Dims`}
RULES: dict[Any, Any] = {}

rule = rules_of(RULES)


def _dims(node: Node, found: Any, index: int = 0, scalar: bool = False) -> BatchedValue:
    """The batched value of an output with these entries."""
    dtype = node.op.outputs[index].dtype
    if not any(isinstance(entry, Sizes) for entry in found):
        value = found[0] if scalar else found
        made = constants.constant(value, dtype) if found else tf.zeros([0], dtype)
        return batched_values.Uniform(node.count, made)
    return Dims(node.count, found, dtype, scalar)


@rule("Shape", "ShapeN")
def shapes(node: Node) -> Any:
    """The shapes of values."""
    found = [symbolic_shapes.of_value(value) for value in node.inputs]
    return None if None in found else [_dims(node, each, i) for i, each in enumerate(found)]


@rule("Size")
def size(node: Node) -> Any:
    """The number of elements of a value."""
    found = symbolic_shapes.of_value(node.inputs[0])
    return found and _product(node, found)


@rule("Prod")
def product(node: Node) -> Any:
    """The product of the numbers of a vector."""
    found = isinstance(node.inputs[0], Dims) and entries(node.inputs[0])
    keeps = node.op.get_attr("keep_dims")
    return _product(node, found) if found and not keeps and node.constant(1) is not None else None


@rule("Mul")
def times(node: Node) -> Any:
    """A number of rows times a number."""
    given = [entries(value) for value in node.inputs]
    scalar = all(not node.input_shape(i) for i in (0, 1))
    return _product(node, given[0] + given[1]) if None not in given and scalar else None


def _product(node: Node, found: Any) -> list[Any] | None:
    sizes = [entry for entry in found if isinstance(entry, Sizes)]
    factor = 1
    for entry in found:
        factor *= 1 if isinstance(entry, Sizes) else entry
    if len(sizes) > 1 or not factor:
        return None
    return [_dims(node, [sizes[0].times(factor)] if sizes else [factor], scalar=True)]


@rule("FloorDiv")
def quotient(node: Node) -> list[Any] | None:
    """Numbers of rows, and numbers, by numbers."""
    given = [entries(value) for value in node.inputs]
    if None in given or node.input_shape(0) != node.input_shape(1):
        return None
    if any(isinstance(entry, Sizes) or not entry for entry in given[1]):
        return None
    if any(isinstance(a, Sizes) and b != 1 for a, b in zip(*given)):
        return None
    found = [a if isinstance(a, Sizes) else a // b for a, b in zip(*given)]
    return [_dims(node, found, scalar=not node.input_shape(0))]


@rule("Cast", *PASSES)
def passed(node: Node) -> Any:
    """The same numbers."""
    held = node.inputs[0]
    whole = node.op.outputs[0].dtype in (tf.int32, tf.int64)
    return [_dims(node, held.entries, scalar=held.scalar)] if whole else None


@rule("Pack")
def pack(node: Node) -> list[Any] | None:
    """A shape of numbers."""
    given = [entries(value) for value in node.inputs]
    if None in given or any(node.input_shape(i) for i in range(len(given))):
        return None
    return [_dims(node, [one for (one,) in given])]


@rule("ConcatV2")
def concatenate(node: Node) -> Any:
    """A shape of shapes."""
    given = [entries(value) for value in node.inputs[:-1]]
    return None if None in given else [_dims(node, sum(given, []))]


@rule("StridedSlice")
def strided_slice(node: Node) -> list[Any] | None:
    """Some numbers of a shape."""
    bounds = [node.constant(i) for i in (1, 2, 3)]
    masks = {name: node.op.get_attr(name) for name in ("ellipsis_mask", "new_axis_mask")}
    if any(masks.values()) or not _is_vector(node, 0):
        return None
    if any(bound is None or bound.size != 1 for bound in bounds):
        return None
    begin, end, stride = [int(bound[0]) for bound in bounds]
    if node.op.get_attr("shrink_axis_mask"):
        return [_dims(node, [node.inputs[0].entries[begin]], scalar=True)]
    taken = slice(
        None if node.op.get_attr("begin_mask") else begin,
        None if node.op.get_attr("end_mask") else end,
        stride,
    )
    return [_dims(node, node.inputs[0].entries[taken])]


def _is_vector(node: Node, index: int) -> bool:
    return isinstance(node.inputs[index], Dims) and not node.inputs[index].scalar


@rule("Slice")
def slice_(node: Node) -> list[Any] | None:
    """Some numbers of a shape."""
    begin, size = node.constant(1), node.constant(2)
    if not _is_vector(node, 0) or begin is None or size is None:
        return None
    (begin,), (size,) = begin.tolist(), size.tolist()
    return [_dims(node, node.inputs[0].entries[begin:][: None if size < 0 else size])]


@rule("GatherV2")
def gather(node: Node) -> list[Any] | None:
    """Some numbers of a shape."""
    places = node.constant(1)
    if not _is_vector(node, 0) or places is None or places.ndim > 1:
        return None
    found = [node.inputs[0].entries[place] for place in places.reshape([-1]).tolist()]
    return [_dims(node, found, scalar=not places.ndim)]


@rule("Reshape", "ExpandDims", "Squeeze")
def reshape(node: Node) -> list[Any] | None:
    """One number as a shape, a shape as it is."""
    shape = node.shape()
    if shape is None or len(shape) > 1:
        return None
    return [_dims(node, node.inputs[0].entries, scalar=not shape)]


@rule("DynamicStitch")
def stitch(node: Node) -> list[Any] | None:
    """A shape in which some numbers are replaced."""
    half = len(node.inputs) // 2
    places = [node.constant(i) for i in range(half)]
    given = [entries(value) for value in node.inputs[half:]]
    if None in given or any(place is None for place in places):
        return None
    found: dict[Any, Any] = {}
    for place, values in zip(places, given):
        found.update(zip(place.reshape([-1]).tolist(), values))
    return [_dims(node, [found[i] for i in range(len(found))])]


@rule("ConcatOffset")
def offsets(node: Node) -> Any:
    """Where parts begin along a known axis; all replicas' rows begin with the first."""
    axis, given = node.constant(0), [entries(value) for value in node.inputs[1:]]
    if axis is None or None in given or any(isinstance(each[axis], Sizes) for each in given):
        return None
    found, start = [], 0
    for i, each in enumerate(given):
        place = [start if j == axis else 0 for j in range(len(each))]
        found.append(_dims(node, place, i))
        start += each[axis]
    return found


@rule("BroadcastGradientArgs")
def broadcast_axes(node: Node) -> list[Any] | None:
    """The axes over which gradients are summed; see `symbolic_shapes.Axes`."""
    given = [entries(value) for value in node.inputs]
    if None in given:
        return None
    made: list[Any] = []

    def make(index: int) -> list[Any]:
        if not made:
            pairs = zip(*[value.each() for value in node.inputs])
            made.extend(functions.copy_op(node.op, pair).outputs for pair in pairs)
        return [outputs[index] for outputs in made]

    return [Axes(node.count, each, lambda i=i: make(i)) for i, each in enumerate(given)]
