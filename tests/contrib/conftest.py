"""Fixtures: graph and eager mode, and a strategy of four towers in them."""

import pytest

from tests.contrib import harness


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
