"""A virtual TPU for the pins that need TensorFlow."""

import pytest


@pytest.fixture
def strategy():
    """A strategy on 8 virtual cores; skips where TensorFlow builds graphs only."""
    tf = pytest.importorskip("tensorflow", reason="TensorFlow's values")
    if not tf.executing_eagerly():
        pytest.skip("per-replica values are read eagerly")
    from tpudist.v2_0 import tensorflow as tf20

    resolver = tf20.distribute.cluster_resolver.TPUClusterResolver(tpu="virtual:8")
    tf20.config.experimental_connect_to_cluster(resolver)
    tf20.tpu.experimental.initialize_tpu_system(resolver)
    return tf20.distribute.experimental.TPUStrategy(resolver)
