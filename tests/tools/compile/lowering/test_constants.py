"""Values that the compiler needs are used if they are known, else refused by name."""

import re

import numpy as np
import pytest
import tensorflow as tf

from tests.tools.compile import harness
from tpudist.errors import CompileError

pytestmark = harness.lowers_here

X, N = tf.TensorSpec([128, 4]), tf.TensorSpec([], tf.int32)
LENGTHS = tf.TensorSpec([16], tf.int32)


@pytest.fixture(scope="module")
def strategy():
    return harness.strategy()


@pytest.mark.parametrize(
    ("step", "args"),
    [
        (lambda n: tf.fill([n], 1.0), [N]),
        (lambda x, n: tf.reshape(x, [n, -1]), [X, N]),
        (lambda x, n: tf.pad(x, [[0, n], [0, 0]]), [X, N]),
        (lambda x, n: tf.tile(x, [n, 1]), [X, N]),
        (lambda x, n: tf.reduce_sum(x, axis=n), [X, N]),
        (lambda x, n: tf.one_hot(tf.range(4), n), [X, N]),
        (lambda x, n: tf.reduce_sum(x) * tf.cast(tf.reduce_sum(tf.range(n)), tf.float32), [X, N]),
        (lambda x, n: tf.sequence_mask(n), [X, LENGTHS]),
    ],
)
def test_an_argument_without_a_value_is_refused(strategy, step, args):
    error = harness.refusal(strategy, step, *args)
    assert "the number itself" in error.instead
    assert "test_constants.py:%d: " % step.__code__.co_firstlineno in error.seen


def test_the_argument_is_named(strategy):
    error = harness.refusal(strategy, lambda x, n: tf.reshape(x, [n, -1]), X, N)
    assert (
        "Reshape: a shape or an axis depends on a value that only the run knows (n)" in error.seen
    )


@pytest.mark.parametrize(
    "made",
    [
        lambda x, size: tf.fill([size], 1.0),
        lambda x, size: tf.tile(x, [size, 1]),
        lambda x, size: tf.pad(x, [[0, size], [0, 0]]),
        lambda x, size: tf.one_hot(tf.range(4), size),
        lambda x, size: tf.range(size),
        lambda x, size: tf.reduce_sum(x, axis=size),
        lambda x, size: tf.concat([x, x], size),
        lambda x, size: tf.function(lambda n: tf.reshape(x, [n, -1]))(size),
    ],
)
def test_the_error_has_the_line(strategy, made):
    def step(x, size, other):
        return tf.cast(other, tf.float32) * x, made(x, size)

    (place,) = re.findall(r"test_constants.py:(\d+)", harness.refusal(strategy, step, X, N, N).seen)
    assert int(place) == made.__code__.co_firstlineno


def test_a_value_in_a_loop_and_in_a_function_is_refused(strategy):
    @tf.function
    def inner(x, m):
        return x * tf.reduce_sum(tf.fill([m], 1.0))  # filled

    @tf.function
    def step(x, n, k):
        for _ in tf.range(k):
            x = inner(x, n)
        return x

    error = harness.refusal(strategy, step, X, N, N)
    assert harness.line(__file__, "filled") in error.seen and "the number itself" in error.instead


def test_an_input_that_need_not_be_constant_stays_a_parameter(strategy):
    with strategy.scope():
        layer = tf.keras.layers.LSTM(3)
        layer.build((8, 5, 4))
    inner = tf.function(lambda x: layer(x, training=True))

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(inner(x) ** 2)
        return tape.gradient(loss, layer.trainable_variables)

    found = harness.lower(strategy, step, tf.TensorSpec([8, 5, 4]))
    shapes = {each.name: each.shape for each in found.parameters}
    assert shapes["x"] == (8, 5, 4) and len(shapes) == 4


def test_a_variable_whose_value_is_needed_is_refused(strategy):
    """Its current value is not compiled in, because another needs another program."""
    with strategy.scope():
        size = tf.Variable(4, name="size")
        step = tf.Variable(4, name="step", dtype=tf.int64)

    def reshaped(x):
        return tf.reshape(x, [size, -1]) * tf.cast(step, tf.float32)  # reshaped

    error = harness.refusal(strategy, reshaped, X)
    assert harness.line(__file__, "reshaped") + "Reshape: a shape or an axis" in error.seen
    # Without an argument too, where TensorFlow would fold it.
    error = harness.refusal(strategy, lambda: tf.fill([size], 1.0))  # without
    assert harness.line(__file__, "without") + "Fill: a shape or an axis" in error.seen
    assert size.numpy() == 4


def test_a_branch_on_a_variable_is_a_branch(strategy):
    with strategy.scope():
        warm = tf.Variable(True, name="warm", trainable=False)

    @tf.function
    def step(x):
        return tf.cond(warm, lambda: x * 2.0, lambda: tf.sin(x))

    found = harness.lower(strategy, step, X)
    assert [each.name for each in found.parameters] == ["x", "warm"]
    assert "conditional" in harness.opcodes(found)


def test_a_counter_without_a_size_is_a_parameter(strategy):
    with strategy.scope():
        count = tf.Variable(3, name="count", dtype=tf.int64, trainable=False)

    def step(x):
        count.assign_add(1)
        return x / tf.cast(count, tf.float32)

    found = harness.lower(strategy, step, X)
    assert [each.name for each in found.parameters] == ["x", "count"]
    assert count.numpy() == 3


def test_a_variable_of_a_graph_whose_value_is_needed_is_refused(strategy):
    """It has no value outside of a Session, and that of its stand-in must not be folded."""
    with tf.Graph().as_default():
        with strategy.scope():
            size = tf.Variable(4, name="size")
            other = tf.Variable(4, name="other", trainable=False)
        error = harness.refusal(strategy, lambda x: tf.tile(x, [size, 1]), X)
        assert "Tile: a shape or an axis depends on a value" in error.seen
        found = harness.lower(strategy, lambda x: x * tf.cast(other, tf.float32), X)
        assert [each.name for each in found.parameters] == ["x", "other"]


def test_a_plain_value_is_used(strategy):
    def step(x, n):
        return tf.tile(x, [n, 1])

    found = harness.lower(strategy, step, X, n=3)
    assert [each.name for each in found.parameters] == ["x"]
    assert harness.results(found) == [(384, 4)]


def test_a_loop_of_an_argument_is_a_loop(strategy):
    """Its bound is a parameter."""

    @tf.function
    def step(x, n):
        for _ in tf.range(n):
            x = tf.distribute.get_replica_context().all_reduce("sum", x * 0.5)
        return x

    found = harness.lower(strategy, step, X, N)
    assert [(each.name, each.shape) for each in found.parameters] == [("x", (128, 4)), ("n", ())]
    assert {"while", "all-reduce"} <= set(harness.opcodes(found))


def test_a_slice_of_an_argument_is_a_slice_or_is_refused(strategy):
    """Newer releases lower it to an array of dynamic size."""
    try:
        found = harness.lower(strategy, lambda x, n: tf.reduce_sum(x[:n]), X, N)
    except CompileError as error:
        assert "only the run knows (n)" in error.seen
    else:
        assert [each.name for each in found.parameters] == ["x", "n"]


def test_an_argument_whose_value_is_not_needed_is_a_parameter(strategy):
    def step(x, seed, rows):
        return x + tf.random.stateless_normal([128, 4], seed), tf.gather(x, rows)

    found = harness.lower(strategy, step, X, tf.TensorSpec([2], tf.int32), LENGTHS)
    assert [each.name for each in found.parameters] == ["x", "seed", "rows"]


def test_large_arguments_are_not_allocated(strategy):
    """18 GiB are lowered in little more memory than TensorFlow takes itself."""
    side = int((18 * 2**30 / 4) ** 0.5)
    before = _resident()
    found = harness.lower(strategy, tf.reduce_sum, tf.TensorSpec([side, side]))
    assert found.parameters[0].shape == (side, side)
    assert _resident() - before < 200 << 20


def _resident():
    with open("/proc/self/status", encoding="ascii") as file:
        return 1024 * sum(int(each.split()[1]) for each in file if each.startswith("VmHWM:"))


def test_arrays_are_parameters_and_plain_values_are_not(strategy):
    """An array is a parameter, as on a TPU; the compiler knows only plain numbers."""
    error = harness.refusal(strategy, lambda x, n: tf.tile(x, [n, 1]), X, np.int32(3))
    assert "only the run knows (n)" in error.seen
