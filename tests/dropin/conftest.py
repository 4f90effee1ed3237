"""Fixtures: each drop-in namespace."""

import pytest

from tests.dropin.harness import drop_in
from tpudist import surfaces


@pytest.fixture(params=surfaces.ERAS)
def era(request):
    """Each era in turn."""
    return request.param


@pytest.fixture
def tf(era):
    """The namespace of each era in turn."""
    return drop_in(era)


@pytest.fixture
def contrib():
    """The namespace of TensorFlow 1.11."""
    return drop_in("contrib")
