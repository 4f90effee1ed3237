"""Computes the sizes of HLO shapes, with and without the padding of a TPU's tiles."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Iterable, NamedTuple

if TYPE_CHECKING:
    from tpudist.tools.compile.hlo.messages import HloShape


class Element(NamedTuple):
    """The type of an array's elements: numpy's name of it, and its bits."""

    name: str
    bits: int


#: The `Element` of each number of xla.PrimitiveType.
ELEMENTS = {
    1: Element("bool", 8),
    2: Element("int8", 8),
    3: Element("int16", 16),
    4: Element("int32", 32),
    5: Element("int64", 64),
    6: Element("uint8", 8),
    7: Element("uint16", 16),
    8: Element("uint32", 32),
    9: Element("uint64", 64),
    10: Element("float16", 16),
    11: Element("float32", 32),
    12: Element("float64", 64),
    15: Element("complex64", 64),
    16: Element("bfloat16", 16),
    17: Element("token", 0),
    18: Element("complex128", 128),
    19: Element("float8_e5m2", 8),
    20: Element("float8_e4m3fn", 8),
    21: Element("int4", 4),
    22: Element("uint4", 4),
}

_BYTES = {each.name: each.bits // 8 for each in ELEMENTS.values()}


def array_bytes(dtype: str, shape: Iterable[int]) -> int:
    """Returns the bytes of an array without padding.

    Args:
      dtype: numpy-style name, also "bfloat16".
      shape: a tuple of ints.
    """
    return functools.reduce(operator.mul, shape, _BYTES[dtype])


def text(shape: HloShape) -> str:
    """Formats a HLO shape as people write it, such as ``float32[8,128]``.

    Args:
      shape: a `messages.Shape`.
    """
    if shape.tuple_shapes:
        return "(%s)" % ", ".join(map(text, shape.tuple_shapes))
    return "%s[%s]" % (element(shape).name, ",".join(map(str, shape.dimensions)))


def element(shape: HloShape) -> Element:
    """Returns the `Element` of an array's shape.

    Args:
      shape: a `messages.Shape`.
    """
    return ELEMENTS.get(shape.element_type, Element("element %d" % shape.element_type, 8))


def logical_bytes(shape: HloShape) -> int:
    """Returns the bytes of an array without padding; of a tuple, those of all its arrays.

    Args:
      shape: a `messages.Shape`.
    """
    if shape.tuple_shapes:
        return sum(map(logical_bytes, shape.tuple_shapes))
    return functools.reduce(operator.mul, shape.dimensions, element(shape).bits) // 8


def tiled_bytes(shape: HloShape) -> int:
    """Returns the bytes that an array takes in a device's memory, with the tiles' padding.

    A tile covers the innermost axes, which are rounded up to whole tiles; a
    further tile covers the axes of the one before. 64-bit numbers are two of
    32 bits.

    Args:
      shape: a `messages.Shape` of a compiled program.
    """
    if shape.tuple_shapes:
        return sum(map(tiled_bytes, shape.tuple_shapes))
    axes = [shape.dimensions[axis] for axis in reversed(shape.layout.minor_to_major)]
    for tile in shape.layout.tiles:
        sizes = list(tile.dimensions)
        axes = [1] * (len(sizes) - len(axes)) + axes
        inner = axes[len(axes) - len(sizes) :]
        axes = (
            axes[: len(axes) - len(sizes)]
            + [-(-axis // size) for axis, size in zip(inner, sizes)]
            + sizes
        )
    bits = shape.layout.element_bits or element(shape).bits
    return functools.reduce(operator.mul, axes, bits) // 8
