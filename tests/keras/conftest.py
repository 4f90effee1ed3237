"""Keras trains eagerly: with TensorFlow 1, v2 behaviour is on.

Keras' fit in a pure TensorFlow 1 graph is an exception of compat/README.md.
"""

import tensorflow as tf

from tpudist.tfcompat import versions

if not versions.TF2:
    tf.compat.v1.enable_v2_behavior()
