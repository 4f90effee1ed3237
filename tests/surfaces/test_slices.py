"""Names of slices: what they mean, which there are, and that every door reads the same table."""

import functools
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpudist.errors import TopologyError, TPUNameError
from tpudist.surfaces import slices
from tpudist.tools.compile.compiler import compilation
from tpudist.virtual import system

SPELLED = {"v5e": "v5litepod"}
TYPES = [
    ("%s-%d" % (SPELLED.get(generation, generation), number), generation)
    for generation in slices.GENERATIONS
    for number in slices.accelerator_types(generation)
]
SHAPES = ["v5e:1x1", "v5e:1x4", "v5e:4x2", "v4:1x1x1", "v2:1x1", "v6e:2x1", "v5p:1x1x1"]
SHAPES += ["tpu7x:2x2x1", "tpu7x:4x4x8", "v4:2x1x4", "v3:16x32"]


@pytest.mark.parametrize(
    ("name", "topology", "devices"),
    [
        ("v2-8", "v2:2x2", 8),
        ("v3-8", "v3:2x2", 8),
        ("v3-32", "v3:4x4", 32),
        ("v3-64", "v3:4x8", 64),
        ("v3-2048", "v3:32x32", 2048),
        ("v4-8", "v4:2x2x1", 4),
        ("v4-32", "v4:2x2x4", 16),
        ("v4-128", "v4:4x4x4", 64),
        ("v4-1536", "v4:8x8x12", 768),
        ("v4-8192", "v4:16x16x16", 4096),
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
        ("v4:2x2", "v4:2x2x1", 4),
        ("v5e:2x4x1", "v5e:2x4", 8),
        ("v5e=2x4", "v5e:2x4", 8),
        ("tpu7x:2x2x1", "tpu7x:2x2x1", 8),
        ("tpu7x-8", "tpu7x:2x2x1", 8),
        ("v7x-128", "tpu7x:4x4x4", 128),
        ("v7-2x2x2", "tpu7x:2x2x2", 16),
    ],
)
def test_names(name, topology, devices):
    found = slices.find(name)
    assert (found.name, found.devices) == (topology, devices)


@pytest.mark.parametrize(
    ("name", "hosts", "host"),
    [
        ("v3-8", 1, (2, 2, 1)),
        ("v3-32", 4, (2, 2, 1)),
        ("v4-32", 4, (2, 2, 1)),
        ("v5litepod-8", 1, (2, 4, 1)),
        ("v5litepod-16", 4, (2, 2, 1)),
        ("v5e:4x2", 2, (2, 2, 1)),
        ("v6e-1", 1, (1, 1, 1)),
        ("v5p-128", 16, (2, 2, 1)),
        ("v4:2x1x4", 4, (2, 1, 1)),
    ],
)
def test_hosts(name, hosts, host):
    found = slices.find(name)
    assert (found.hosts, found.host) == (hosts, host)


@pytest.mark.parametrize("name", [name for name, _ in TYPES] + SHAPES)
def test_both_doors_lead_to_the_same_slice(name):
    compiled, virtual = slices.find(name), system.parse("virtual:" + name)
    assert (compiled.devices, compiled.hosts, compiled.mesh) == tuple(virtual)[1:4]
    assert functools.reduce(operator.mul, virtual.mesh) == virtual.cores
    assert virtual.cores_per_host * virtual.hosts == virtual.cores
    assert compiled.cores == compiled.chips * compiled.about.cores >= compiled.devices
    bounds = compilation.topology_options(compiled)["chips_per_host_bounds"]
    assert functools.reduce(operator.mul, bounds) * compiled.hosts == compiled.chips


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("v3-16", "there is none of 16"),
        ("v3-4", "count cores"),
        ("v2-64", "count cores"),
        ("v5litepod-2", "count chips"),
        ("v5e-512", "count chips"),
        ("v4-4", "count cores"),
        ("v9:2x2", "generations are"),
        ("tpu7x-4", "count cores"),
        ("", "generations are"),
        ("v5e", "generations are"),
        ("v5e:2", "generations are"),
        ("v5e:-2x4", "generations are"),
        ("v5e:3x3", "whole hosts"),
        ("v5e:2x4x2", "has 2"),
        ("v5e:32x32", "1 to 256"),
        ("v5e:0x4", "1 to 256"),
        ("v3:2x2x2", "has 2"),
    ],
)
def test_both_doors_refuse_the_same_names_for_the_same_reason(name, reason):
    with pytest.raises(TopologyError, match=reason) as compiled:
        slices.find(name)
    assert repr(name) in compiled.value.seen and ":" in compiled.value.instead
    with pytest.raises(TPUNameError, match=reason) as virtual:
        system.parse("virtual:" + name)
    assert repr("virtual:" + name) in virtual.value.seen


@pytest.mark.parametrize(("name", "generation"), TYPES)
def test_the_number_of_an_accelerator_type_counts_its_cores_or_chips(name, generation):
    found = slices.find(name)
    counted = found.cores if generation in ("v2", "v3", "v4", "v5p", "tpu7x") else found.chips
    assert int(name.rpartition("-")[2]) == counted
    assert found.generation == generation


@given(
    st.sampled_from(sorted(slices.GENERATIONS)),
    st.lists(st.integers(0, 40), min_size=1, max_size=4),
)
def test_a_slice_has_one_name_or_an_error(generation, shape):
    try:
        found = slices.find("%s:%s" % (generation, "x".join(map(str, shape))))
    except TopologyError:
        return
    assert slices.find(found.name) == found
    assert functools.reduce(operator.mul, shape) == found.chips
