"""Public names of 1.13 to 2.0 that TensorFlow 2.2 has not: each use is told with its line."""

import pytest

from compat.make import first_generation
from tests.tools.migrate import harness
from tpudist import surfaces
from tpudist.surfaces import leads

NAMES = sorted(surfaces.GONE_BY_2_2)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_not_there(name):
    tf = pytest.importorskip("tensorflow", minversion="2.2")
    assert not first_generation.is_there(tf, name)
    assert leads.gone_today(name)


@pytest.mark.parametrize("root", ["", ".compat.v1"])
def test_a_use_is_told(root, tmp_path):
    uses = ["x = tf%s.%s" % (root, name) for name in NAMES]
    harness.put(tmp_path, {"a.py": "\n".join(["import tensorflow as tf", *uses, ""])})
    left = harness.results(tmp_path, "2.2")["a.py"].left
    kept = surfaces.GONE_BY_2_2_BUT_V1 if root else ()
    assert {use.line: use.instead for use in left} == {
        line: surfaces.GONE_BY_2_2[name] for line, name in enumerate(NAMES, 2) if name not in kept
    }
