"""TPUDIST_TPU_NUMBERS=1: operands of products are rounded to bfloat16, forward and backward."""

import numpy as np
import pytest
import tensorflow as tf

from tests.helpers import generations
from tpudist.contrib import tensorflow as contrib
from tpudist.system import cluster
from tpudist.tfcompat import versions
from tpudist.v2_2.strategy import TPUStrategy

_RANDOM = np.random.RandomState(0)
X, W = _RANDOM.randn(8, 16).astype("f"), _RANDOM.randn(16, 4).astype("f")
TARGET = _RANDOM.randn(8, 4).astype("f")


def rounded(values):
    """The float32 values that are nearest in bfloat16, ties to even."""
    bits = np.asarray(values, "f").view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32).view("f")


def product(left, right):
    return rounded(left) @ rounded(right)


#: {program of one product of its argument and the variable}
PRODUCTS = {
    "matmul": tf.matmul,
    "function": lambda x, w: tf.function(lambda: tf.matmul(x, w))(),
    "branch": lambda x, w: tf.cond(
        tf.reduce_sum(x) > -1e9, lambda: tf.matmul(x, w), lambda: tf.zeros([8, 4])
    ),
    "loop": lambda x, w: tf.while_loop(
        lambda i, y: i < 2, lambda i, y: (i + 1, tf.matmul(x, w)), [0, tf.zeros([8, 4])]
    )[1],
    "einsum": lambda x, w: tf.einsum("ij,jk->ik", x, w),
    "batch": lambda x, w: tf.matmul(x[None], w[None] + 0.0)[0],
    "convolution": lambda x, w: tf.nn.conv2d(
        x[:, None, None], tf.reshape(w, [1, 1, 16, 4]), strides=[1, 1, 1, 1], padding="SAME"
    )[:, 0, 0],
}


def step(name, w):
    """A replica function: a product, a loss, and the gradients of both operands."""

    def replica(x):
        y = PRODUCTS[name](x, w)
        loss = tf.reduce_sum(tf.square(y - TARGET))
        return (y,) + tuple(tf.gradients(loss, [x, w]))

    return replica


def expected(multiply=product):
    y = multiply(X, W)
    slope = 2 * (y - TARGET)
    return y, multiply(slope, W.T), multiply(X.T, slope)


def close(found, wanted):
    assert len(found) == len(wanted)
    return all(np.allclose(*pair, rtol=1e-5, atol=1e-4) for pair in zip(found, wanted))


@pytest.fixture(params=["together", "once per replica"])
def numbers(request, monkeypatch):
    """Asks for a TPU's numbers; replicas are done together, and one after the other."""
    monkeypatch.setenv("TPUDIST_TPU_NUMBERS", "1")
    monkeypatch.setenv("TPUDIST_VECTORIZE", "1" if request.param == "together" else "0")


def in_a_function(name):
    strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:2"))
    with strategy.scope():
        w = tf.Variable(W)
    function = tf.function(lambda x: strategy.run(step(name, w), args=(x,)))
    results = function(tf.constant(X))
    return [strategy.experimental_local_results(each)[1].numpy() for each in results]


@pytest.mark.skipif(not versions.TF2, reason="functions of TensorFlow 2")
@pytest.mark.parametrize("name", sorted(PRODUCTS))
def test_products_in_a_function(numbers, name):
    assert close(in_a_function(name), expected())


@pytest.mark.skipif(not versions.TF2, reason="functions of TensorFlow 2")
def test_off_by_default(monkeypatch):
    monkeypatch.delenv("TPUDIST_TPU_NUMBERS", raising=False)
    assert close(in_a_function("loop"), expected(np.matmul))
    assert not close(expected(), expected(np.matmul))


@pytest.mark.skipif(not versions.PRECISION_IS_ASKED_FOR, reason="XLA is not asked for it there")
def test_a_program_that_asks_for_whole_operands(numbers):
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        assert close(in_a_function("matmul"), expected(np.matmul))
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(True)


@pytest.mark.parametrize("name", sorted(set(PRODUCTS) - {"function"}))
def test_products_in_a_graph(numbers, name):
    with generations.as_tensorflow_1_starts(), tf.Graph().as_default():
        resolver = contrib.contrib.cluster_resolver.TPUClusterResolver("virtual:2")
        strategy = contrib.contrib.distribute.TPUStrategy(resolver)
        with strategy.scope():
            w = tf.compat.v1.get_variable("w", initializer=W)
            results = strategy.call_for_each_tower(step(name, w), tf.constant(X))
            towers = [strategy.unwrap(each)[1] for each in results]
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            assert close(session.run(towers), expected())
