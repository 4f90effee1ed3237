"""Keras of 1.13 with ``compile(distribute=strategy)``, in a graph without ``tpudist run``."""

import numpy as np
import pytest
import tensorflow as tf

from tpudist.contrib.strategy import TPUStrategy
from tpudist.core.system import cluster
from tpudist.tfcompat import versions

pytestmark = pytest.mark.skipif(versions.HAS_COMPAT_V2, reason="1.14 has no such argument")


@pytest.mark.parametrize("batch", [8, 16])
def test_predict(batch):
    rows = np.arange(48, dtype=np.float32).reshape(16, 3)
    with tf.Graph().as_default():
        strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:4"))
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
        model.compile(tf.train.GradientDescentOptimizer(0.1), "mse", distribute=strategy)
        kernel, bias = model.get_weights()
        found = model.predict(rows, batch_size=batch)
    np.testing.assert_allclose(found, rows @ kernel + bias, 1e-5)
