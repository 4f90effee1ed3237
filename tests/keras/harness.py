"""Small nets and data, and the same training with and without a strategy."""

import numpy as np
import tensorflow as tf

from tpudist.system import cluster
from tpudist.tfcompat import versions
from tpudist.v2_2.strategy import TPUStrategy

keras = tf.keras
BATCH = 16
ROWS = 48

#: float32 sums of a batch in another order. Adam divides by the root of the
#: squared gradient, which magnifies them where a gradient is near zero.
RTOL, ATOL = 1e-4, 1e-5
ADAM_ATOL = 1e-4


def strategy_of(cores):
    """A strategy on a virtual TPU of that many cores."""
    return TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % cores))


def images(rows=ROWS):
    """(images [rows, 6, 6, 1], classes [rows]), the same ones every time."""
    random = np.random.RandomState(7)
    x = random.rand(rows, 6, 6, 1).astype(np.float32)
    return x, (x.mean(axis=(1, 2, 3)) * 40).astype(np.int64) % 3


def rows(count=ROWS):
    """(vectors [count, 4], targets [count, 1]) of a linear relation."""
    random = np.random.RandomState(3)
    x = random.rand(count, 4).astype(np.float32)
    return x, x.dot(np.array([[1.0], [-2.0], [0.5], [3.0]], np.float32))


def conv_net():
    """A convolution and a dense layer; 3 classes, as logits."""
    return keras.Sequential(
        [
            keras.layers.Conv2D(3, 3, activation="tanh", input_shape=(6, 6, 1)),
            keras.layers.Flatten(),
            keras.layers.Dense(3),
        ]
    )


def dense_net():
    """Two dense layers; one output."""
    return keras.Sequential(
        [keras.layers.Dense(5, activation="tanh", input_shape=(4,)), keras.layers.Dense(1)]
    )


def classify(model, optimizer, **kwargs):
    """Compiles for classes."""
    model.compile(
        optimizer,
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        **kwargs,
    )
    return model


def regress(model, optimizer, **kwargs):
    """Compiles for numbers."""
    model.compile(optimizer, "mse", metrics=["mae"], **kwargs)
    return model


def single(make, compiled, optimizer):
    """The model on one device, without a strategy; same weights every call."""
    model = compiled(make(), optimizer())
    random = np.random.RandomState(1)
    model.set_weights(
        [(random.rand(*weight.shape) - 0.5).astype(np.float32) for weight in model.get_weights()]
    )
    return model


def distributed(cores, make, compiled, optimizer, **kwargs):
    """The model of `single`, in the scope of a strategy."""
    with strategy_of(cores).scope():
        model = compiled(make(), optimizer(), **kwargs)
    model.set_weights(single(make, compiled, optimizer).get_weights())
    return model


def values(model, strategy):
    """Weights of a model or layer, in the order of get_weights, as they are saved.

    With TensorFlow 1 get_weights takes the first replica's moving statistics
    instead of the mean that is saved, in MirroredStrategy as well.
    """
    if not strategy or versions.KERAS_3:
        return model.get_weights()
    return [strategy.extended.read_var(weight).numpy() for weight in model.weights]


def fit(model, data, epochs=3):
    """Trains on global batches in the order of the data; the history."""
    return model.fit(
        data[0], data[1], batch_size=BATCH, epochs=epochs, shuffle=False, verbose=0
    ).history


def same_history(actual, expected, rtol=1e-4, atol=1e-5):
    """Asserts that two histories have the same names and numbers."""
    assert sorted(actual) == sorted(expected)
    for name in expected:
        np.testing.assert_allclose(actual[name], expected[name], rtol, atol, err_msg=name)


def same_weights(actual, expected, rtol=RTOL, atol=ATOL):
    """Asserts that two models have the same weights."""
    ours, theirs = actual.get_weights(), expected.get_weights()
    assert len(ours) == len(theirs) > 0
    for one, other in zip(ours, theirs):
        np.testing.assert_allclose(one, other, rtol, atol)
