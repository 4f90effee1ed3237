"""`tf.config.run_functions_eagerly(True)`: replicas run op by op, with the numbers of functions."""

import contextlib

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import def_function

from tests.conformance.modes import SUM, number, replica
from tests.contrib import harness
from tpudist.errors import EagerRunError
from tpudist.tfcompat import functions, versions
from tpudist.v2_0 import tensorflow as tf20
from tpudist.v2_2 import tensorflow as tf22

pytestmark = pytest.mark.skipif(
    not versions.FUNCTIONS_CAN_BE_INLINED, reason="TensorFlow 1.15 brought it"
)


@contextlib.contextmanager
def switched_on():
    def_function.run_functions_eagerly(True)
    try:
        yield
    finally:
        def_function.run_functions_eagerly(False)


@pytest.fixture(params=[True, False], ids=["on", "off"])
def switch(request):
    """The switch, in both positions."""
    with switched_on() if request.param else contextlib.nullcontext():
        yield request.param


def decorated(surface, strategy, step):
    return tf.function(lambda: surface.run(strategy, step))()


def run_of_a_function(surface, strategy, step):
    return surface.run(strategy, tf.function(step))


@pytest.mark.parametrize("call", [decorated, run_of_a_function])
def test_a_step_has_the_same_numbers(surface, switch, call):
    strategy = surface.strategy("virtual:4")
    with strategy.scope():
        weight = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
        seen = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
            trainable=False,
        )
    values = []

    def step():
        total = replica().all_reduce(SUM, number() + weight)
        weight.assign_add(number())
        seen.assign_add(number())
        values.append(total)
        return total + number()

    found = [float(x) for x in strategy.experimental_local_results(call(surface, strategy, step))]
    assert found == [10.0, 11.0, 12.0, 13.0]
    assert float(weight.read_value()) == 7.0 and float(seen.read_value()) == 6.0
    assert not switch or [float(x) for x in values] == [10.0] * 4


def test_towers(switch):
    with harness.enter("eager"):
        distribution = harness.strategy_of(4)
        with distribution.scope():
            found = distribution.call_for_each_tower(
                tf.function(lambda: tf.constant(1.0) + number())
            )
            assert [float(x) for x in distribution.unwrap(found)] == [1.0, 2.0, 3.0, 4.0]


def fitted(surface, **options):
    keras = {"v2_0": tf20, "v2_2": tf22}[surface.era].keras
    strategy = surface.strategy("virtual:2")
    with strategy.scope():
        model = keras.Sequential(
            [keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,))]
        )
        model.compile("sgd", "mse", **options)
    rows = np.arange(16.0, dtype=np.float32).reshape([8, 2]) / 16.0
    model.fit(rows, rows[:, :1], batch_size=4, epochs=2, verbose=0, shuffle=False)
    return model.get_weights()


@pytest.mark.skipif(
    not versions.KERAS_TAKES_BATCHES, reason="Keras' loops of functions came in 2.2"
)
def test_fit_has_the_same_numbers(surface):
    expected = fitted(surface)
    with switched_on():
        for found, weight in zip(fitted(surface), expected):
            np.testing.assert_allclose(found, weight, rtol=1e-5)


@pytest.mark.skipif(
    not versions.KERAS_TAKES_BATCHES, reason="Keras' loops of functions came in 2.2"
)
def test_a_model_that_is_to_run_eagerly_names_the_argument(v2_2):
    with pytest.raises(EagerRunError, match=r"compile\(run_eagerly=True\)"):
        fitted(v2_2, run_eagerly=True)
    with switched_on():
        fitted(v2_2, run_eagerly=True)


def test_tracing_a_nested_function_in_place_keeps_the_switch():
    with switched_on():
        with functions.inlined():
            pass
        assert functions.are_inlined()
    assert not functions.are_inlined()
