"""Layers with state: what each replica does to it.

What is said of MirroredStrategy was seen with it on two logical CPUs.
"""

import numpy as np
import pytest
import tensorflow as tf

from tests.keras import harness
from tests.keras.harness import keras
from tpudist.tfcompat import versions

pytestmark = pytest.mark.slow

MOMENTUM = 0.9


def moved(x, cores, epochs=1):
    """Moving means and variances [cores, 4] after training, by definition.

    Each replica moves its statistics by those of its rows.
    """
    mean, variance = np.zeros([cores, 4]), np.ones([cores, 4])
    for start in list(range(0, len(x), harness.BATCH)) * epochs:
        parts = np.split(x[start : start + harness.BATCH].astype(np.float64), cores)
        for i, part in enumerate(parts):
            mean[i] += (1 - MOMENTUM) * (part.mean(axis=0) - mean[i])
            variance[i] += (1 - MOMENTUM) * (part.var(axis=0) - variance[i])
    return mean, variance


def saved(parts):
    """What is saved of statistics per replica.

    Keras 2 creates them with aggregation MEAN, Keras 3 without aggregation:
    then it is the first replica's. MirroredStrategy does the same.
    """
    return parts[0] if versions.KERAS_3 else parts.mean(axis=0)


def normalized():
    return keras.Sequential(
        [
            keras.layers.BatchNormalization(momentum=MOMENTUM, input_shape=(4,)),
            keras.layers.Dense(1),
        ]
    )


@pytest.mark.parametrize("cores", [8, 2])
def test_moving_statistics_follow_from_those_of_the_replicas(cores):
    x, y = harness.rows()
    strategy = harness.strategy_of(cores)
    with strategy.scope():
        model = harness.regress(normalized(), keras.optimizers.SGD(0.01))
    harness.fit(model, (x, y), epochs=1)
    mean, variance = (saved(parts) for parts in moved(x, cores))
    actual_mean, actual_variance = harness.values(model.layers[0], strategy)[-2:]
    np.testing.assert_allclose(actual_mean, mean, 1e-5)
    np.testing.assert_allclose(actual_variance, variance, 1e-5)
    _, of_one_device = moved(x, 1)
    assert np.abs(variance - of_one_device[0]).max() > 1e-3


def test_evaluate_uses_the_moving_statistics():
    x, y = harness.rows()
    with harness.strategy_of(8).scope():
        model = harness.regress(normalized(), keras.optimizers.SGD(0.01))
    harness.fit(model, (x, y), epochs=2)
    mean, variance = moved(x, 8, epochs=2)
    # Each replica reads its own statistics, not what would be saved.
    replica = np.arange(len(x)) % harness.BATCH // (harness.BATCH // 8)
    gamma, beta = model.layers[0].get_weights()[:2]
    kernel, bias = model.layers[1].get_weights()
    scaled = (x - mean[replica]) / np.sqrt(variance[replica] + 1e-3)
    error = (scaled * gamma + beta).dot(kernel) + bias - y
    np.testing.assert_allclose(
        model.evaluate(x, y, batch_size=harness.BATCH, verbose=0)[0], np.mean(error**2), 1e-4
    )


def masks(strategy, layer, calls):
    """[calls, replicas, 200]: the values a dropout layer keeps of ones."""

    @tf.function
    def step():
        return strategy.run(lambda: layer(tf.ones([200]), training=True))

    return np.array(
        [
            [part.numpy() for part in strategy.experimental_local_results(step())]
            for _ in range(calls)
        ]
    )


def dropped(**kwargs):
    strategy = harness.strategy_of(4)
    with strategy.scope():
        layer = keras.layers.Dropout(0.5, **kwargs)
    return masks(strategy, layer, calls=3)


def test_dropout_drops_half_and_scales_the_rest():
    found = dropped()
    assert set(np.unique(found)) == {0.0, 2.0}
    assert 0.4 < np.mean(found == 0.0) < 0.6


def test_dropout_differs_between_steps():
    found = dropped()
    assert not np.array_equal(found[0], found[1])
    assert not np.array_equal(found[1], found[2])


def test_dropout_differs_between_replicas():
    # Keras 3 draws from a seed state that is a variable of the layer. All
    # replicas start with the same one and so drop the same, as they do with
    # MirroredStrategy.
    for step in dropped():
        assert len({mask.tobytes() for mask in step}) == (1 if versions.KERAS_3 else 4)


def test_a_model_with_dropout_trains():
    x, y = harness.rows()
    first = keras.initializers.RandomNormal(stddev=0.5, seed=1)
    second = keras.initializers.RandomNormal(stddev=0.5, seed=2)
    with harness.strategy_of(8).scope():
        model = harness.regress(
            keras.Sequential(
                [
                    keras.layers.Dense(
                        16, activation="tanh", input_shape=(4,), kernel_initializer=first
                    ),
                    keras.layers.Dropout(0.2, seed=1),
                    keras.layers.Dense(1, kernel_initializer=second),
                ]
            ),
            keras.optimizers.SGD(0.05),
        )
    losses = harness.fit(model, (x, y), epochs=8)["loss"]
    assert np.all(np.isfinite(losses)) and losses[-1] < 0.8 * losses[0]


class Remembers(keras.layers.Layer):
    """Keeps the mean of the rows that it was last called with."""

    def __init__(self):
        super().__init__()
        self.seen = tf.Variable(0.0, trainable=False)

    def call(self, inputs):
        self.seen.assign(tf.reduce_mean(inputs))
        return inputs


def test_the_shapes_of_a_functional_model_are_no_use_of_its_variables():
    x, y = harness.rows(harness.BATCH)
    strategy = harness.strategy_of(2)
    with strategy.scope():
        layer, inputs = Remembers(), keras.Input((4,))
        model = keras.Model(inputs, keras.layers.Dense(1)(layer(inputs)))
        harness.regress(model, keras.optimizers.SGD(0.01))
    harness.fit(model, (x, y), epochs=1)
    found = [value.numpy() for value in strategy.experimental_local_results(layer.seen)]
    np.testing.assert_allclose(found, [half.mean() for half in np.split(x, 2)], 1e-5)
