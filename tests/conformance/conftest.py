"""Fixtures: each surface, each mode, and a strategy of four replicas in them.

TensorFlow 1 is switched to v2 behaviour, so that one process can run both
modes: a graph case makes its own graph and Session.
"""

import pytest
import tensorflow as tf
from tensorflow.python.eager import context

if context.default_execution_mode == context.GRAPH_MODE:
    tf.compat.v1.enable_v2_behavior()  # 1.13: before anything asks about it

from tests.conformance import modes


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    """Variables of the caller's environment decide nothing here."""
    for name in ("TPUDIST_TPU", "TPUDIST_ALLOW_EAGER_RUN", "TPUDIST_DEVICE"):
        monkeypatch.delenv(name, raising=False)


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
