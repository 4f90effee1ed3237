"""A checkpoint is restored before an optimizer has made its slots, in the first step."""

import numpy as np
import pytest
import tensorflow as tf

from tests.helpers.generations import second_generation
from tests.virtual import harness
from tpudist.tfcompat import versions

pytestmark = [
    second_generation,
    pytest.mark.skipif(not versions.TRACE_ONCE, reason=harness.TRACED_PER_REPLICA),
]


def program():
    """(a checkpoint, a function that does a step and returns the weight's value)."""
    strategy = harness.make()
    with strategy.scope():
        weight = tf.Variable([1.0])
        optimizer = tf.keras.optimizers.SGD(0.1, 0.9)

    def replica():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weight * weight) / harness.CORES
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])

    step = harness.graph(lambda: strategy.run(replica))

    def after_a_step():
        step()
        return weight.numpy().item()

    return tf.train.Checkpoint(weight=weight, optimizer=optimizer), after_a_step


def test_training_goes_on_as_if_it_had_not_stopped(tmp_path):
    checkpoint, after_a_step = program()
    after_a_step()
    path = checkpoint.save(str(tmp_path / "saved"))
    expected = [after_a_step() for _ in range(3)]
    checkpoint, after_a_step = program()
    checkpoint.restore(path)
    np.testing.assert_allclose([after_a_step() for _ in range(3)], expected, rtol=1e-6)
