"""TensorFlow 1 is switched to v2 behaviour, as for the conformance cases."""

from tests import v2_behavior  # noqa: F401 (it switches)
