"""Keras' learning phase, set by a program or by Keras' fit, is that of the towers' layers."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contrib.harness import close, data, strategy_of
from tpudist.contrib.distribute import VariableAggregation
from tpudist.tfcompat import versions

backend = tf.keras.backend

pytestmark = pytest.mark.skipif(versions.KERAS_3, reason="Keras 3 has no learning phase")


def doubled_in_training(x):
    return backend.in_train_phase(2.0 * x, x)


@pytest.mark.skipif(versions.HAS_COMPAT_V2, reason="1.14 has no compile(distribute=)")
@pytest.mark.parametrize("towers", [1, 2])
def test_fit_and_predict(towers):
    x = np.arange(24, dtype=np.float32).reshape(8, 3) / 24
    y = x.sum(axis=1, keepdims=True)

    def trained(**kwargs):
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(3,)),
                tf.keras.layers.Lambda(doubled_in_training),
            ]
        )
        model.compile(tf.train.GradientDescentOptimizer(0.1), "mse", **kwargs)
        model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
        return model.get_weights() + [model.predict(x, batch_size=4)]

    with tf.Graph().as_default(), tf.Session().as_default():
        found = trained(distribute=strategy_of(towers))
    with tf.Graph().as_default(), tf.Session().as_default():
        expected = trained()
    for one, other in zip(found, expected):
        close(one, other, 1e-5)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("phase", [0, 1])
def test_what_the_program_sets(mode, scope, phase, inside):
    # In eager mode Keras of 2.2 and 2.3 keeps it for one thread (``_DummyEagerGraph``).
    if mode.eager and versions.HAS_RUN and not versions.TRACE_ONCE:
        pytest.skip("Keras of 2.2 and 2.3 sets the phase for one thread; replicas have their own")
    if mode.eager and inside and versions.LEARNING_PHASE_IS_OF_A_GRAPH:
        pytest.skip("1.13: a step has the phase from before it, if one was set eagerly")
    before = backend.learning_phase() if mode.eager else 0
    if not inside:
        backend.set_learning_phase(phase)

    def step(context, x):
        if inside:
            backend.set_learning_phase(phase)
        doubled = scope.call_for_each_tower(doubled_in_training, x)
        context.set_last_step_output("sum", doubled, VariableAggregation.SUM)

    context = scope.run_steps_on_dataset(step, data(scope), iterations=3)
    found = mode.run(context.last_step_outputs)
    backend.set_learning_phase(before)
    assert found == {"sum": 38.0 * (1 + phase)}
