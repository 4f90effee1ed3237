"""keras_to_tpu_model: several inputs and outputs, one core, and what is refused."""

import numpy as np
import pytest
import tensorflow as tf

from tpudist import errors
from tpudist.contrib import tpu
from tpudist.contrib.cluster_resolver import TPUClusterResolver
from tpudist.keras.tpu_models import TPUDistributionStrategy
from tpudist.tfcompat import keras_packages

ROWS = np.arange(32, dtype=np.float32).reshape(8, 4) / 32
needs_keras_2 = pytest.mark.skipif(
    keras_packages.is_keras_3(), reason="keras_to_tpu_model is a part of Keras 2"
)


@pytest.fixture
def keras():
    """The eras' Keras, in a graph of its own."""
    module = keras_packages.of_graphs()
    with tf.Graph().as_default(), tf.compat.v1.Session().as_default():
        yield module


def linear(keras, loss="mse", **options):
    """One layer of ones, on 4 numbers."""
    inputs = keras.layers.Input((4,))
    model = keras.Model(inputs, keras.layers.Dense(1, kernel_initializer="ones")(inputs))
    model.compile(tf.compat.v1.train.GradientDescentOptimizer(0.1), loss, **options)
    return model


def on_cores(model, cores=2, **options):
    resolver = TPUClusterResolver("virtual:%d" % cores)
    return tpu.keras_to_tpu_model(model, TPUDistributionStrategy(resolver, **options))


@needs_keras_2
@pytest.mark.parametrize("options", [{}, {"using_single_core": True}])
def test_inputs_and_outputs_have_their_names(keras, options):
    left, right = (keras.layers.Input((4,), name=name) for name in ("left", "right"))
    total = keras.layers.Add(name="total")([left, right])
    twice = keras.layers.Lambda(lambda x: 2 * x, name="twice")(left)
    model = on_cores(keras.Model([left, right], [total, twice]), **options)
    assert model.input_names == ["left", "right"] and model.output_names == ["total", "twice"]
    added, doubled = model.predict([ROWS, 3 * ROWS], batch_size=4)
    np.testing.assert_allclose(added, 4 * ROWS)
    np.testing.assert_allclose(doubled, 2 * ROWS)


@needs_keras_2
def test_weights_are_set_read_and_copied_to_the_cpu(keras):
    plain = linear(keras)
    model = on_cores(plain)
    labels = np.zeros((8, 1), np.float32)
    model.fit(ROWS, labels, batch_size=8, shuffle=False, verbose=0)
    x = ROWS.astype(np.float64)
    error = x.sum(axis=1, keepdims=True)
    kernel = 1 - 0.1 * 2 * x.T.dot(error) / 8
    np.testing.assert_allclose(model.get_weights()[0], kernel, 1e-5)
    np.testing.assert_allclose(model.sync_to_cpu().get_weights()[0], kernel, 1e-5)
    np.testing.assert_allclose(plain.get_weights()[0], np.ones((4, 1)))  # It is a copy.
    model.set_weights([np.full((4, 1), 2.0), np.zeros(1)])
    np.testing.assert_allclose(model.predict_on_batch(ROWS), 2 * error, 1e-5)
    assert model.sync_to_cpu().layers[-1].name == model.get_layer(index=-1).name


@needs_keras_2
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda model: model.predict(ROWS[:5]), "5 rows on 2 cores"),
        (lambda model: model.train_on_batch(ROWS[:3], np.zeros((3, 1))), "3 rows on 2 cores"),
        (lambda model: model.fit(dataset(), steps_per_epoch=1), "takes a function"),
        (lambda model: model.evaluate(dataset(), steps=1), "takes a function"),
        (lambda model: model.fit(dataset), "steps_per_epoch=NUMBER"),
        (lambda model: model.fit(dataset, ROWS, steps_per_epoch=1), "y=None"),
        (lambda model: model.fit(lambda: 3, steps_per_epoch=1), "returned 3"),
        (lambda model: model.fit(lambda: dataset(False), steps_per_epoch=1), "drop_remainder"),
        (lambda model: model.compile("sgd", "mse", weighted_metrics=["mae"]), "weighted_metrics"),
    ],
)
def test_what_is_refused(keras, call, words):
    with pytest.raises((errors.ArgumentError, errors.ArgumentTypeError)) as caught:
        call(on_cores(linear(keras)))
    assert words in str(caught.value) and caught.value.why and caught.value.instead


def dataset(even=True):
    """Batches of 2 rows and labels."""
    rows = tf.data.Dataset.from_tensor_slices((ROWS, ROWS[:, :1]))
    return rows.batch(2, drop_remainder=even)


@needs_keras_2
def test_models_that_cannot_be_copied(keras):
    with pytest.raises(errors.ArgumentError, match="all sizes but that of the batch"):
        on_cores(keras.Sequential([keras.layers.Dense(1, input_shape=(None, 4))]))
    with pytest.raises(errors.ArgumentError, match="no inputs yet"):
        on_cores(keras.Sequential([keras.layers.Dense(1)]))
    with pytest.raises(errors.ArgumentTypeError, match="no model of tf.keras"):
        on_cores(3)


def test_another_strategy():
    with pytest.raises(errors.ArgumentTypeError, match="TPUDistributionStrategy"):
        tpu.keras_to_tpu_model(None, "my-tpu")


@pytest.mark.skipif(not keras_packages.is_keras_3(), reason="Keras 2 has it")
def test_keras_3_is_answered_in_words():
    with pytest.raises(errors.ContribNameError, match="pip install"):
        on_cores(None)


def set_by_hand(keras):
    def halved(epoch, logs):
        optimizer = made.model.optimizer
        keras.backend.set_value(optimizer.lr, keras.backend.get_value(optimizer.lr) / 2)

    made = keras.callbacks.LambdaCallback(on_epoch_end=halved)
    return made


@needs_keras_2
def test_a_callback_writes_no_histograms_and_says_so(keras, tmp_path, caplog):
    labels = np.zeros((8, 1), np.float32)
    board = keras.callbacks.TensorBoard(str(tmp_path), histogram_freq=1)
    told = "histogram_freq=1 of a TensorBoard callback, for a model on"
    for _ in range(2):  # The second training has nothing more to say.
        on_cores(linear(keras)).fit(
            ROWS, labels, batch_size=8, verbose=0, callbacks=[board], validation_data=(ROWS, labels)
        )
    assert [told in record.getMessage() for record in caplog.records].count(True) == 1
    assert list(tmp_path.iterdir())


CALLBACKS = {
    "ReduceLROnPlateau": lambda keras: keras.callbacks.ReduceLROnPlateau("loss", patience=0),
    "LearningRateScheduler": lambda keras: keras.callbacks.LearningRateScheduler(lambda _: 0.1),
    "set by hand": set_by_hand,
}


@needs_keras_2
@pytest.mark.parametrize("callback", sorted(CALLBACKS))
def test_learning_rates_that_callbacks_cannot_set(keras, callback):
    labels = np.zeros((8, 1), np.float32)
    model = on_cores(linear(keras))
    callbacks = [CALLBACKS[callback](keras)]
    with pytest.raises(errors.ArgumentError, match=r"tf\.keras\.optimizers\.SGD") as raised:
        model.fit(ROWS, labels, batch_size=8, verbose=0, callbacks=callbacks)
    assert "GradientDescentOptimizer" in raised.value.seen
    if callback != "set by hand":  # What is known before is told before anything is trained.
        np.testing.assert_array_equal(model.get_weights()[0], np.ones((4, 1)))
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.fit(ROWS, labels, batch_size=8, verbose=0, callbacks=callbacks)
