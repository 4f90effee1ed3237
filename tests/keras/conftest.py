"""Keras trains eagerly: with TensorFlow 1, v2 behaviour is on.

Keras' fit in a pure TensorFlow 1 graph is an exception of compat/README.md.
"""

from tests.helpers import v2_behavior  # noqa: F401 (it switches)
