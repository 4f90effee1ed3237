"""``compile(distribute=strategy)``: each replica takes a whole batch of a dataset."""

import numpy as np
import pytest
import tensorflow as tf

from tpudist import errors
from tpudist.contrib.strategy import TPUStrategy
from tpudist.keras import whole_batches
from tpudist.system import cluster
from tpudist.tfcompat import versions

ROWS = np.arange(24, dtype=np.float32).reshape(12, 2)


def elements(dataset, count):
    """The first elements of a dataset, in a graph."""
    with tf.compat.v1.Session() as session:
        element = tf.compat.v1.data.make_one_shot_iterator(dataset()).get_next()
        return [session.run(element) for _ in range(count)]


@pytest.mark.parametrize(("count", "batches"), [(1, 4), (2, 2), (3, 1)])
def test_global_batches_are_whole_batches_in_their_order(count, batches):
    def pairs():
        labels = {"label": ROWS[:, 0]}
        dataset = tf.data.Dataset.from_tensor_slices((ROWS, labels)).batch(3, drop_remainder=True)
        return whole_batches.global_batches(dataset, count)

    with tf.Graph().as_default():
        found = elements(pairs, batches)
    for step, (rows, labels) in enumerate(found):
        expected = ROWS[3 * count * step : 3 * count * (step + 1)]
        np.testing.assert_array_equal(rows, expected)
        np.testing.assert_array_equal(labels["label"], expected[:, 0])


def test_batches_of_no_fixed_size():
    with tf.Graph().as_default(), pytest.raises(errors.ArgumentError, match="drop_remainder=True"):
        whole_batches.global_batches(tf.data.Dataset.from_tensor_slices(ROWS).batch(5), 2)


@pytest.mark.skipif(versions.HAS_COMPAT_V2, reason="1.14 has no such argument")
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
