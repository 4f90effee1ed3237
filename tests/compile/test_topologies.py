"""Names of slices: what they mean, which there are, and that libtpu knows them."""

import functools
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpudist.compile import process, topologies
from tpudist.errors import TopologyError

TYPES = [
    ("%s-%d" % (spelled, count), generation)
    for generation, spelled in (
        ("v2", "v2"),
        ("v3", "v3"),
        ("v4", "v4"),
        ("v5e", "v5litepod"),
        ("v5p", "v5p"),
        ("v6e", "v6e"),
    )
    for count in topologies.accelerator_types(generation)
]


@pytest.mark.parametrize(
    "name, topology, devices",
    [
        ("v2-8", "v2:2x2", 8),
        ("v3-8", "v3:2x2", 8),
        ("v3-32", "v3:4x4", 32),
        ("v3-64", "v3:4x8", 64),
        ("v3-2048", "v3:32x32", 2048),
        ("v4-8", "v4:2x2x1", 8),
        ("v4-32", "v4:2x2x4", 32),
        ("v4-128", "v4:4x4x4", 128),
        ("v4-8192", "v4:16x16x16", 8192),
        ("v5litepod-1", "v5e:1x1", 1),
        ("v5litepod-8", "v5e:2x4", 8),
        ("v5litepod-16", "v5e:4x4", 16),
        ("v5litepod-256", "v5e:16x16", 256),
        ("v5e-8", "v5e:2x4", 8),
        ("v5p-8", "v5p:2x2x1", 4),
        ("v5p-12288", "v5p:16x16x24", 6144),
        ("v6e-1", "v6e:1x1", 1),
        ("v6e-8", "v6e:2x4", 8),
        ("V6E-8", "v6e:2x4", 8),
        ("v5e:2x4", "v5e:2x4", 8),
        ("v5litepod:2x4", "v5e:2x4", 8),
        ("v4:2x2", "v4:2x2x1", 8),
        ("v5e:2x4x1", "v5e:2x4", 8),
        ("v5e=2x4", "v5e:2x4", 8),
        ("tpu7x:2x2x1", "tpu7x:2x2x1", 8),
    ],
)
def test_names(name, topology, devices):
    found = topologies.topology(name)
    assert (found.name, found.devices) == (topology, devices)


@pytest.mark.parametrize(
    "name, reason",
    [
        ("v3-16", "there is none of 16"),
        ("v5litepod-2", "count chips"),
        ("v4-4", "count cores"),
        ("v9:2x2", "generations are"),
        ("tpu7x-8", "generations are"),
        ("", "generations are"),
        ("v5e", "generations are"),
        ("v5e:2", "generations are"),
        ("v5e:-2x4", "generations are"),
        ("v5e:3x3", "whole hosts"),
        ("v4:2x1x4", None),
        ("v5e:2x4x2", "has 2"),
        ("v5e:32x32", "1 to 256"),
        ("v5e:0x4", "1 to 256"),
        ("v3:2x2x2", "has 2"),
    ],
)
def test_what_there_is_not(name, reason):
    if reason is None:
        assert topologies.topology(name).options()["chips_per_host_bounds"] == [2, 1, 1]
        return
    with pytest.raises(TopologyError, match=reason) as caught:
        topologies.topology(name)
    assert repr(name) in caught.value.seen and ":" in caught.value.instead


@pytest.mark.parametrize(
    "name, wrap",
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
    assert topologies.topology(name).options().get("wrap") == wrap


@pytest.mark.parametrize("name, generation", TYPES)
def test_the_number_of_an_accelerator_type_counts_its_cores_or_chips(name, generation):
    found = topologies.topology(name)
    chips = functools.reduce(operator.mul, found.shape)
    counted = chips * (2 if generation in ("v2", "v3", "v4", "v5p") else 1)
    assert int(name.rpartition("-")[2]) == counted
    assert found.generation == generation


@given(
    st.sampled_from(sorted(topologies.GENERATIONS)),
    st.lists(st.integers(0, 40), min_size=1, max_size=4),
)
def test_a_slice_has_one_name_or_an_error(generation, shape):
    try:
        found = topologies.topology("%s:%s" % (generation, "x".join(map(str, shape))))
    except TopologyError:
        return
    assert topologies.topology(found.name) == found
    assert (
        functools.reduce(operator.mul, shape) * (topologies.GENERATIONS[generation].devices)
        == found.devices
    )


@given(st.integers(-1, 20), st.integers(-1, 20))
def test_what_does_not_fit_is_refused(replicas, partitions):
    found = topologies.topology("v5e:2x4")
    fits = replicas > 0 and partitions > 0 and replicas * partitions <= 8
    try:
        topologies.check(found, replicas, partitions)
        assert fits
    except TopologyError as error:
        assert not fits and error.instead


def test_the_error_says_how_many_replicas_fit():
    with pytest.raises(
        TopologyError, match="3 replicas x 4 logical devices on v5e:2x4.*2 replicas"
    ):
        topologies.check(topologies.topology("v5e:2x4"), 3, 4)


@pytest.mark.parametrize(
    "name",
    [name for name, _ in TYPES]
    + ["v5e:1x1", "v5e:1x4", "v4:1x1x1", "v2:1x1", "v6e:2x1", "v5p:1x1x1"],
)
def test_libtpu_knows_every_slice(compiler, name):
    found = topologies.topology(name)
    answer = process.ask(
        {"libtpu": compiler.path, "topology": found.name, "options": found.options()}
    )
    assert answer["ok"], answer
    assert answer["devices"] == found.devices
    said = answer["attributes"].get("device_memory_bytes_limit")
    per = 2 if found.generation == "v4" else 1
    assert said is None or abs(said / per - found.hbm) < 1e-3 * found.hbm
