"""Sizes of arrays in a TPU's memory, counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpudist.tools.compile.hlo import messages

PRIMITIVE = {element.name: number for number, element in messages.ELEMENTS.items()}


def shape(dtype, dimensions, order=None, *tiles, **layout):
    made = messages.Shape(element_type=PRIMITIVE[dtype], dimensions=dimensions)
    made.layout.minor_to_major.extend(
        order if order is not None else reversed(range(len(dimensions)))
    )
    for tile in tiles:
        made.layout.tiles.add(dimensions=tile)
    made.layout.element_bits = layout.get("bits", 0)
    return made


@pytest.mark.parametrize(
    ("given", "size", "padded"),
    [
        (shape("float32", []), 4, 4),
        (shape("float32", [], None, (128,)), 4, 512),
        (shape("float32", [32], None, (128,)), 128, 512),
        (shape("float32", [129], None, (128,)), 516, 1024),
        (shape("float32", [128, 10], (0, 1), (8, 128)), 5120, 16 * 128 * 4),
        (shape("float32", [128, 10], (1, 0), (8, 128)), 5120, 128 * 128 * 4),
        (shape("float32", [3, 3, 1, 32], None, (1, 128)), 1152, 9 * 128 * 4),
        (shape("float32", [128, 28, 28, 1], (0, 3, 2, 1), (1, 128)), 401408, 401408),
        (shape("bfloat16", [9, 130], None, (8, 128), (2, 1)), 2340, 16 * 256 * 2),
        (shape("bfloat16", [1, 128], None, (1, 128), (2, 1)), 256, 2 * 128 * 2),
        (shape("bool", [100], None, (1024,), bits=8), 100, 1024),
        (shape("int4", [16], None, (128,), bits=4), 8, 64),
        (shape("float32", [0, 128], None, (8, 128)), 0, 0),
    ],
)
def test_sizes_counted_by_hand(given, size, padded):
    assert messages.logical_bytes(given) == size
    assert messages.tiled_bytes(given) == padded


def test_a_tuple_has_the_size_of_its_arrays():
    part = shape("float32", [32], None, (128,))
    both = messages.Shape(element_type=13, tuple_shapes=[part, part])
    assert (messages.logical_bytes(both), messages.tiled_bytes(both)) == (256, 1024)
    assert messages.shape_text(both) == "(float32[32], float32[32])"


@given(st.lists(st.integers(1, 300), min_size=0, max_size=4), st.data())
def test_padding_adds_less_than_a_tile_along_each_axis(dimensions, data):
    order = data.draw(st.permutations(range(len(dimensions))))
    tile = data.draw(st.lists(st.sampled_from([1, 2, 8, 128]), min_size=0, max_size=2))
    found = shape("float32", dimensions, order, *([tile] if tile else []))
    most = 4
    axes = [dimensions[axis] for axis in reversed(order)]
    axes = [1] * (len(tile) - len(axes)) + axes
    for axis, size in zip(axes, [1] * (len(axes) - len(tile)) + tile):
        most *= axis + size - 1
    assert messages.logical_bytes(found) <= messages.tiled_bytes(found) <= most


@given(
    st.sampled_from([name for name in PRIMITIVE if "4" not in name[-1] or name[-2] in "1236"]),
    st.lists(st.integers(0, 9), max_size=4),
)
def test_sizes_agree_with_numpy(dtype, dimensions):
    numpy = pytest.importorskip("numpy")
    try:
        numpy.dtype(dtype)
    except TypeError:  # numpy has no bfloat16
        return
    expected = numpy.zeros(dimensions, dtype).nbytes
    assert messages.array_bytes(dtype, tuple(dimensions)) == expected
    assert messages.logical_bytes(shape(dtype, dimensions)) == expected
