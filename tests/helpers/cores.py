"""What the cores are that a test asks for: a virtual TPU's, or devices if the environment says so.

``TPUDIST_TEST_CORES=cpus python -m pytest tests/conformance`` runs the same cases on logical CPUs,
``gpus`` on a machine's GPUs.
"""

import os
import re

import pytest

#: The variable that says so.
VARIABLE = "TPUDIST_TEST_CORES"

#: "cpus", "gpus", or empty for a virtual TPU.
KIND = os.environ.get(VARIABLE, "")

#: Of tests of what only a virtual TPU promises: one trace, and one copy of a variable.
virtual_only = pytest.mark.skipif(KIND != "", reason="each device has a trace, and copies")


def named(tpu):
    """The TPU's name to use for ``virtual:N`` or ``virtual``; other names are kept."""
    count = re.match("^virtual(?::([0-9]+))?$", tpu)
    return "%s:%s" % (KIND, count.group(1) or 8) if KIND and count else tpu
