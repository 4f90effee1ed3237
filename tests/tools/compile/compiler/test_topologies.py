"""Descriptions of slices for libtpu, which knows all of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surfaces.test_slices import SHAPES, TYPES
from tpudist.errors import TopologyError
from tpudist.surfaces import slices
from tpudist.tools.compile.compiler import compilation, libtpu


@pytest.mark.parametrize(
    ("name", "wrap"),
    [
        ("v5e:8x16", [0, 1, 0]),
        ("v5e:16x16", [1, 1, 0]),
        ("v5e:8x8", None),
        ("v3:32x32", [1, 1, 0]),
        ("v3:16x16", None),
        ("v2:16x16", [1, 1, 0]),
        ("v4:4x4x4", [1, 1, 1]),
        ("v4:2x4x4", None),
        ("v4:4x4x8", [1, 1, 1]),
        ("v4:2x2x1", None),
    ],
)
def test_rings(name, wrap):
    assert compilation.topology_options(slices.find(name)).get("wrap") == wrap


@given(st.integers(1, 20), st.integers(1, 20))
def test_a_program_larger_than_the_slice_is_refused(replicas, partitions):
    found = slices.find("v5e:2x4")
    fits = replicas * partitions <= 8
    try:
        compilation.check_fits(found, replicas, partitions)
        assert fits
    except TopologyError as error:
        assert not fits and error.instead


def test_the_error_says_how_many_replicas_fit():
    with pytest.raises(
        TopologyError, match="3 replicas x 4 logical devices on v5e:2x4.*2 replicas"
    ):
        compilation.check_fits(slices.find("v5e:2x4"), 3, 4)


@pytest.mark.parametrize("name", ["v4-8", "v5p-8"])
def test_the_error_says_that_a_chip_of_two_cores_is_one_device(name):
    with pytest.raises(TopologyError, match="has 4, each a chip whose two TensorCores"):
        compilation.check_fits(slices.find(name), 8, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, _ in TYPES] + SHAPES)
def test_libtpu_knows_every_slice(compiler, name):
    found = slices.find(name)
    answer = libtpu.ask(
        {
            "libtpu": compiler.path,
            "topology": found.name,
            "options": compilation.topology_options(found),
        }
    )
    assert answer["ok"], answer
    assert answer["devices"] == found.devices
