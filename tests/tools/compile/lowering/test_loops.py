"""Loops: their lines, and the compiler's FLOPs of one round beside arithmetic by hand."""

import pytest
import tensorflow as tf

from tests.tools.compile import harness

pytestmark = harness.lowers_here

BATCH, INPUTS, UNITS = 32, 128, 256


@pytest.fixture(scope="module")
def strategy():
    return harness.strategy(1)


def recurrent(strategy, layer, steps):
    """The program of a training step of a recurrent layer."""
    with strategy.scope():
        made = layer(UNITS)
        made.build((BATCH, steps, INPUTS))

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(made(x, training=True) ** 2)
        for weight, each in zip(made.weights, tape.gradient(loss, made.weights)):
            weight.assign_sub(0.1 * each)
        return loss

    return harness.lower(strategy, step, tf.TensorSpec([BATCH, steps, INPUTS]))


@pytest.mark.slow
@pytest.mark.parametrize(("layer", "gates"), [("LSTM", 4), ("GRU", 3)])
@pytest.mark.parametrize("steps", [100, 1000])
def test_recurrent_layers(compiled, strategy, layer, gates, steps):
    program = recurrent(strategy, getattr(tf.keras.layers, layer), steps)
    found = compiled(program, "v5e:1x1", fast=True)
    # Forwards; for the weights; and, the inputs having no gradient, for the state alone.
    products = 2 * BATCH * gates * UNITS * ((INPUTS + UNITS) + (INPUTS + UNITS) + UNITS)
    assert found.cost.flops == pytest.approx(products, rel=0.05)
    assert found.cost.loops


def test_a_while_loop(compiled, strategy):
    def step(x):
        return tf.while_loop(lambda i, _: i < 10, lambda i, y: (i + 1, tf.tanh(y @ y)), [0, x])[1]

    found = compiled(harness.lower(strategy, step, tf.TensorSpec([256, 256])), "v5e:1x1")
    assert found.cost.flops == pytest.approx(2 * 256**3, rel=0.05)
    (loop,) = found.cost.loops
    assert "test_loops.py:" in loop


def test_loops_in_loops(compiled, strategy):
    @tf.function
    def step(x):
        for _ in tf.range(7):
            for _ in tf.range(5):
                x = tf.tanh(x @ x)
        return x

    found = compiled(harness.lower(strategy, step, tf.TensorSpec([256, 256])), "v5e:1x1")
    assert found.cost.flops == pytest.approx(2 * 256**3, rel=0.05)
    assert len(found.cost.loops) == 2


@pytest.mark.slow
def test_what_steps_in_a_loop_reduce_counts_once(compiled):
    strategy = harness.strategy(8)
    with strategy.scope():
        weight = tf.Variable(tf.ones([1024, 1024]))

    @tf.function
    def step(x):
        for _ in tf.range(10):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.matmul(x, weight) ** 2)
            gradient = tape.gradient(loss, weight)
            gradient = tf.distribute.get_replica_context().all_reduce("sum", gradient)
            weight.assign_sub(0.1 * gradient)
        return weight.read_value()[0, 0]

    found = compiled(harness.lower(strategy, step, tf.TensorSpec([256, 1024])), "v5e:2x4")
    assert found.cost.flops == pytest.approx(2 * 2 * 256 * 1024**2, rel=0.05)
    counts = {each.kind: each.count for each in found.optimized}
    assert counts in ({"all-reduce": 1}, {"reduce-scatter": 1, "all-gather": 1})
    # What a device puts into an all-gather is its own part.
    parts = {each.kind: each.bytes for each in found.optimized}
    assert parts.get("all-gather", 4 * 1024**2 // 8) == 4 * 1024**2 // 8
