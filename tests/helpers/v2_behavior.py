"""TensorFlow 1 switched to v2 behaviour, on import: one process runs both modes.

A graph case makes its own graph and Session. What is about TensorFlow 1 as it
starts takes ``tests.helpers.generations.as_tensorflow_1_starts``.
"""

import tensorflow as tf
from tensorflow.python.eager import context

if context.default_execution_mode == context.GRAPH_MODE:
    tf.compat.v1.enable_v2_behavior()  # 1.13: before anything asks about it
