"""What the cores are that a test asks for: a virtual TPU's, or devices if the environment says so.

``TPUDIST_TEST_CORES=cpus python -m pytest tests/conformance`` runs the same cases on logical CPUs,
``gpus`` on a machine's GPUs.
"""

import os
import re

#: The variable that says so.
VARIABLE = "TPUDIST_TEST_CORES"

#: "cpus", "gpus", or empty for a virtual TPU.
KIND = os.environ.get(VARIABLE, "")


def named(tpu):
    """The TPU's name to use for ``virtual:N`` or ``virtual``; other names are kept."""
    count = re.match("^virtual(?::([0-9]+))?$", tpu)
    return "%s:%s" % (KIND, count.group(1) or 8) if KIND and count else tpu
