"""Loops that XLA cannot compile, loops that get their rounds for XLA alone, and names of sizes."""

import pytest
import tensorflow as tf

from tests.helpers.generations import second_generation

pytestmark = second_generation


def told_of(strategy, lines, fn, value, **options):
    tf.function(lambda x: strategy.run(fn, args=(x,)), **options)(value)
    return lines()


def test_the_loop_without_a_maximum_is_named(strategy, lines):
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            (y,) = tf.while_loop(lambda y: tf.reduce_sum(y) < 9.0, lambda y: [y * x], [x])  # loop
        return tape.gradient(y, x)

    (line,) = told_of(strategy, lines, step, tf.constant([2.0]), autograph=False)
    loop = "%s:%d" % (__file__, step.__code__.co_firstlineno + 3)
    assert "the rounds of the loop of " + loop in line and "maximum_iterations=N" in line


def test_loops_of_autograph_and_keras_are_taken(strategy, lines):
    """They have a maximum where TensorFlow builds a program for XLA."""
    with strategy.scope():
        layer = tf.keras.layers.LSTM(2)
        layer.build((1, 3, 2))

    def step(x):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(layer(x, training=True))
            for _ in tf.range(3):
                y = y * tf.reduce_sum(x)
        return tape.gradient(y, layer.trainable_variables)

    assert told_of(strategy, lines, step, tf.ones([1, 3, 2])) == []


@pytest.mark.parametrize("value", ["variable", "argument", "draw"])
def test_where_a_size_comes_from_is_named(strategy, lines, value):
    with strategy.scope():
        count = tf.Variable(2, name="count", trainable=False)

    def step(x):
        sizes = {"variable": count, "argument": x}
        drawn = tf.random.uniform([], 1, 3, tf.int32)
        return tf.zeros([sizes.get(value, drawn)])

    (line,) = told_of(strategy, lines, step, tf.constant(2), autograph=False)
    expected = {
        "variable": "(the variable count of %s:" % __file__,
        "argument": "(x)",
        "draw": "(RandomUniformInt of %s:" % __file__,
    }
    assert expected[value] in line


def test_a_string_that_passes_through_a_step(strategy, lines):
    (line,) = told_of(strategy, lines, tf.identity, tf.constant("a"), autograph=False)
    assert "a TPU has no strings" in line
