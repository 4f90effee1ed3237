"""Sizes of arrays, counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpudist.tools.compile.hlo import messages

NUMBERS = [*range(1, 13), *range(15, 23)]
PRIMITIVE = {messages.element(messages.Shape(element_type=each)): each for each in NUMBERS}


def shape(dtype, dimensions):
    return messages.Shape(element_type=PRIMITIVE[dtype], dimensions=dimensions)


@pytest.mark.parametrize(
    ("given", "size"),
    [
        (shape("float32", []), 4),
        (shape("float32", [3, 3, 1, 32]), 1152),
        (shape("bfloat16", [9, 130]), 2340),
        (shape("int4", [16]), 8),
        (shape("float32", [0, 128]), 0),
    ],
)
def test_sizes_counted_by_hand(given, size):
    assert messages.logical_bytes(given) == size


def test_a_tuple_has_the_size_of_its_arrays():
    part = shape("float32", [32])
    both = messages.Shape(element_type=13, tuple_shapes=[part, part])
    assert messages.logical_bytes(both) == 256
    assert messages.shape_text(both) == "(float32[32], float32[32])"


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
