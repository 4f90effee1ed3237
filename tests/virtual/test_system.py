"""Names of virtual slices."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from tpudist.errors import TPUNameError
from tpudist.virtual import system


@pytest.mark.parametrize(
    ("name", "cores", "hosts", "mesh"),
    [
        ("virtual", 8, 1, (2, 2, 1, 2)),
        ("virtual:1", 1, 1, (1, 1, 1, 1)),
        ("virtual:3", 3, 1, (3, 1, 1, 1)),
        ("virtual:8", 8, 1, (2, 2, 1, 2)),
        ("virtual:v2-8", 8, 1, (2, 2, 1, 2)),
        ("virtual:v3-32", 32, 4, (4, 4, 1, 2)),
        ("virtual:v5litepod-8", 8, 1, (2, 4, 1, 1)),
        ("virtual:v5litepod-16", 16, 4, (4, 4, 1, 1)),
        ("virtual:v6e-256", 256, 64, (16, 16, 1, 1)),
    ],
)
def test_slices(name, cores, hosts, mesh):
    found = system.parse(name)
    assert (found.cores, found.hosts, found.mesh) == (cores, hosts, mesh)
    assert found.cores_per_host * hosts == cores


@pytest.mark.parametrize(
    ("name", "kind", "cores"), [("gpus:4", "GPU", 4), ("cpus:8", "CPU", 8), ("gpus", "GPU", 3)]
)
def test_devices_as_cores(name, kind, cores):
    found = system.parse(name, gpus=3)
    assert (found.kind, found.cores, found.hosts) == (kind, cores, 1)


@pytest.mark.parametrize("name", ["cpus", "gpus:", "gpu:2", "cpus:v3-8", "tpus:8"])
def test_a_tpus_own_name_is_not_that_of_devices(name):
    assert not system.is_virtual(name)


@pytest.mark.parametrize(
    ("name", "kind", "cores"),
    [
        ("cluster:cpus:4", "CPU", 8),
        ("cluster:gpus:4", "GPU", 8),
        ("cluster", "GPU", 6),
        ("cluster:virtual:4", None, 8),
        ("cluster:virtual", None, 16),
        ("cluster:virtual:v5litepod-16", None, 16),
    ],
)
def test_the_workers_of_a_cluster_are_hosts(name, kind, cores):
    workers = 4 if "16" in name else 2
    found = system.parse(name, gpus=3, workers=workers)
    assert (found.kind, found.cores, found.hosts) == (kind, cores, workers)
    assert (found.slice is None) == ("v5" not in name)
    assert found.is_cluster and not system.parse("cpus:8").is_cluster


def test_the_hosts_of_a_slice_are_the_workers():
    with pytest.raises(TPUNameError, match="it has 4 hosts, and the cluster 2 workers"):
        system.parse("cluster:virtual:v3-32", workers=2)
    assert system.parse("cluster:virtual:v3-32").cores == 32


@pytest.mark.parametrize("name", ["cluster:", "cluster:4", "cluster:virtually:8"])
def test_a_cluster_has_devices(name):
    with pytest.raises(TPUNameError, match="cluster:cpus:4"):
        system.parse(name)


def test_no_devices_are_no_cores():
    with pytest.raises(TPUNameError, match="cpus:0"):
        system.parse("cpus:0")


@hypothesis.given(st.integers(1, 4096))
def test_the_mesh_holds_every_core(cores):
    found = system.parse("virtual:%d" % cores)
    assert np.prod(found.mesh) == found.cores == cores


@pytest.mark.parametrize(
    "name",
    [
        "virtual:",
        "virtual:0",
        "virtual:-8",
        "virtual:4097",
        "virtual:v3-7",
        "virtual:v3-24",
        "virtual:v9-8",
        "virtual:v3-32-4",
        "virtual:eight",
        "virtual:v3-0",
    ],
)
def test_unknown_names_are_quoted(name):
    with pytest.raises(TPUNameError) as caught:
        system.parse(name)
    assert repr(name) in str(caught.value)
    assert "virtual:v3-32" in str(caught.value)
