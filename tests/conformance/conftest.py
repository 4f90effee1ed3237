"""Fixtures: each surface, each mode, and a strategy of four replicas in them.

TensorFlow 1 is switched to v2 behaviour.
"""

import pytest

from tests.helpers import v2_behavior  # noqa: F401 (it switches)
from tpudist import machine

from tests.conformance import modes  # isort: skip


@pytest.fixture(autouse=True)
def nothing_that_a_tpu_refuses(monkeypatch):
    """What these programs do, TPUs did: a line of the check is a false alarm, and fails."""
    monkeypatch.setenv(machine.TPU_CHECK, "error")


@pytest.fixture(params=[modes.V2_0, modes.V2_2], ids=lambda each: each.era)
def surface(request):
    """Each surface in turn."""
    return request.param


@pytest.fixture(params=[modes.V2_2], ids=lambda each: each.era)
def v2_2(request):
    """The surface of TensorFlow 2.2, for what only it has."""
    return request.param


@pytest.fixture(params=["graph", "function"])
def mode(request):
    """Each mode in turn, entered."""
    with modes.enter(request.param) as entered:
        yield entered


@pytest.fixture
def strategy(surface, mode):
    """A strategy of four replicas."""
    return surface.strategy("virtual:4")
