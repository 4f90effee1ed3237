"""``tf.keras`` of the drop-in namespaces: Keras 2, with the optimizers of the eras."""

import numpy as np
import pytest
import tensorflow as native

from tests.dropin.harness import drop_in
from tests.helpers.generations import second_generation
from tpudist import machine
from tpudist.tfcompat import keras_packages, versions

keras_2 = pytest.mark.skipif(
    keras_packages.is_keras_3(), reason="the installed Keras is Keras 3, without tf_keras"
)
second = pytest.mark.parametrize("era", ["v2_0", "v2_2"])


def built(optimizer_class):
    """An Adam that has updated a variable of two values twice."""
    variable = native.Variable([1.0, 2.0], name="w")
    optimizer = optimizer_class(0.5)
    for _ in range(2):
        optimizer.apply_gradients([(native.constant([1.0, -1.0]), variable)])
    return optimizer


def test_keras_is_keras_2(tf):
    packages = {"tensorflow", "tensorflow_core", "keras"}
    expected = {"tf_keras"} if keras_packages.legacy() else packages
    assert tf.keras.layers.Dense.__module__.split(".")[0] in expected
    assert tf.keras.Model is tf.keras.models.Model


def test_the_package_counts_if_it_is_of_the_same_release(monkeypatch):
    minor = keras_packages.minor()
    for release, fits in ((minor + ".9", True), (minor + "9.0", False), (None, False)):
        monkeypatch.setattr(machine, "legacy_keras", lambda release=release: release)
        assert keras_packages.legacy() == (fits and versions.KERAS_3)
    monkeypatch.setattr(machine, "legacy_keras", lambda: minor + ".9")
    monkeypatch.setenv(machine.LEGACY_KERAS, "0")
    assert not keras_packages.legacy()


@keras_2
@second_generation
@second
def test_optimizers_have_the_weights_that_the_era_saved(era):
    optimizer = built(drop_in(era).keras.optimizers.Adam)
    steps, first, second_moment = optimizer.get_weights()
    assert steps == 2
    np.testing.assert_allclose(first, [0.19, -0.19], 1e-5)
    np.testing.assert_allclose(second_moment, [0.001999, 0.001999], 1e-4)
    assert [each.name for each in optimizer.weights] == ["Adam/iter:0", "Adam/w/m:0", "Adam/w/v:0"]


@keras_2
@second_generation
@second
def test_optimizers_are_one_class_by_any_name(era):
    tf = drop_in(era)
    adam = tf.keras.optimizers.Adam
    assert adam is tf.optimizers.Adam is tf.compat.v1.keras.optimizers.Adam
    assert type(tf.keras.optimizers.get("adam")) is adam
    assert type(tf.keras.optimizers.deserialize({"class_name": "Adam", "config": {}})) is adam
    assert issubclass(adam, tf.keras.optimizers.Optimizer)
    config = tf.keras.optimizers.serialize(adam(0.25))
    assert tf.keras.optimizers.deserialize(config).get_config()["learning_rate"] == 0.25
    assert tf.keras.optimizers.schedules.ExponentialDecay


@keras_2
def test_imports_lead_to_the_same(era):
    tf = drop_in(era)
    scope = {}
    code = (
        "from tpudist.{0}.tensorflow.keras.optimizers import SGD\n"
        "from tpudist.{0}.tensorflow.keras import backend as K, layers\n"
        "import tpudist.{0}.tensorflow.keras.losses as losses"
    )
    exec(code.format(era), scope)
    assert scope["SGD"] is tf.keras.optimizers.SGD
    assert (scope["K"], scope["layers"]) == (tf.keras.backend, tf.keras.layers)
    assert scope["losses"] is tf.keras.losses


@keras_2
def test_layers_and_cells_of_tensorflow_1(contrib):
    with native.Graph().as_default(), contrib.Session() as session:
        x = native.constant([[1.0, 2.0], [3.0, 4.0]])
        dense = contrib.layers.dense(x, 3, kernel_initializer=contrib.ones_initializer())
        normal = contrib.layers.batch_normalization(x, training=True)
        cell = contrib.nn.rnn_cell.BasicRNNCell(2)
        output, _ = cell(x, cell.zero_state(2, native.float32))
        loss = contrib.losses.mean_squared_error(x, x + 1.0)
        session.run(contrib.global_variables_initializer())
        values = session.run([dense, normal, output, loss])
    np.testing.assert_allclose(values[0], [[3.0] * 3, [7.0] * 3])
    np.testing.assert_allclose(values[1], [[-1.0, -1.0], [1.0, 1.0]], atol=1e-3)
    assert values[2].shape == (2, 2) and values[3] == 1.0
