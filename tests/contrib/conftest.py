"""Fixtures: graph and eager mode, and a strategy of four towers in them."""

import pytest

from tests.contrib import harness
from tpudist.contrib.cluster_resolver import TPUClusterResolver


@pytest.fixture(params=harness.MODES)
def mode(request):
    """Each of the modes in turn."""
    with harness.enter(request.param) as entered:
        yield entered


@pytest.fixture(params=["graph", "graph_v1"])
def graph(request):
    """Each of the graph modes in turn."""
    with harness.enter(request.param) as entered:
        yield entered


@pytest.fixture
def eager():
    """Eager mode."""
    with harness.enter("eager") as entered:
        yield entered


@pytest.fixture
def scope():
    """A strategy of four towers, and its scope."""
    distribution = harness.strategy_of(4)
    with distribution.scope():
        yield distribution


@pytest.fixture
def meant(monkeypatch):
    """The environment asks for a virtual TPU."""
    monkeypatch.setenv("TPUDIST_TPU", "virtual:8")


@pytest.fixture
def real(monkeypatch):
    """The script has found a real TPU."""
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    TPUClusterResolver("grpc://10.0.0.1:8470")
