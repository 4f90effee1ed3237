"""Where the cores of a virtual slice are."""

import numpy as np
import pytest

from tpudist.core import placement
from tpudist.virtual import system


@pytest.mark.parametrize("name", ["virtual:8", "virtual:v3-32", "virtual:v4-32", "virtual:v5p-128"])
def test_every_core_has_a_place_of_its_own(name):
    described = system.parse(name)
    found = placement.topology(described)
    places = found.device_coordinates.reshape([described.cores, -1])
    assert len({tuple(place) for place in places}) == described.cores
    assert (places < np.array(found.mesh_shape)).all()
    assert found.num_tasks == described.hosts
