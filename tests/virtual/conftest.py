"""TensorFlow 1 is switched to v2 behaviour, as for the conformance cases; strategies of 4 cores."""

import pytest

from tests.helpers import v2_behavior  # noqa: F401 (it switches)
from tests.virtual import harness


@pytest.fixture
def strategy():
    """A strategy on a few virtual cores, another one for each test."""
    return harness.make()
