"""The effect of the variants of `--fit` on the layers that are created in them."""

import numpy as np
import pytest
import tensorflow as tf

from tests.tools.compile import harness
from tpudist.errors import CompileError
from tpudist.tfcompat import keras_packages, versions
from tpudist.tools.compile.command import fit

KERAS = keras_packages._of_eras()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not versions.LOWERS_TO_HLO, reason="--fit compiles, for which TensorFlow 2.5 is needed"
    ),
]


def test_layers_compute_in_bfloat16_inside_the_context_only():
    before = KERAS.mixed_precision.global_policy().name
    with fit.VARIANTS[0].context():
        dense = KERAS.layers.Dense(3)
        assert dense(tf.ones([2, 4])).dtype == tf.bfloat16
        assert tf.as_dtype(dense.kernel.dtype) == tf.float32
    assert KERAS.mixed_precision.global_policy().name == before
    assert KERAS.layers.Dense(3)(tf.ones([2, 4])).dtype == tf.float32


def test_recomputing_uses_keras_or_is_refused():
    if hasattr(KERAS, "RematScope"):
        with fit.VARIANTS[1].context() as scope:
            assert scope.mode == "full"
    else:
        with pytest.raises(CompileError, match="tf.recompute_grad"):
            fit.VARIANTS[1].context()


def recomputed(layer, around):
    """Returns (the output of a layer for ones in training, its gradient), in a function."""

    @tf.function
    def step(ones):
        with tf.GradientTape() as tape:
            tape.watch(ones)
            result = around(lambda each: layer(each, training=True))(ones)
        return result, tape.gradient(result, ones)

    return step(tf.ones([8, 64]))


def test_wrapping_a_layer_with_state_trains_wrongly():
    """In plain TensorFlow, layers with a state have another one when they are recomputed."""
    drop = KERAS.layers.Dropout(0.5)
    for around, same in ((lambda fn: fn, True), (tf.recompute_grad, False)):
        result, gradient = recomputed(drop, around)
        assert np.array_equal(result, gradient) == same
    for around, mean in ((lambda fn: fn, 0.5), (tf.recompute_grad, 0.75)):
        norm = KERAS.layers.BatchNormalization(momentum=0.5)
        norm.build([8, 64])
        recomputed(norm, around)
        assert np.allclose(norm.moving_mean, mean)


def test_the_setting_of_keras_in_a_function():
    """Keras 3.15 raises, in plain TensorFlow; --fit says so, and a release that works is used."""
    if not hasattr(KERAS, "RematScope"):
        with pytest.raises(CompileError, match="Keras 2 here"):
            fit.VARIANTS[1].context()
        return
    with fit.VARIANTS[1].context():
        dense = KERAS.layers.Dense(3)
    step = tf.function(lambda x: dense(x, training=True))
    try:
        assert step(tf.ones([2, 4])).shape == (2, 3)
    except ValueError as error:
        assert "keywords arguments only when eager" in str(error)
        assert "not known: " in fit.failed_variant_text(fit.VARIANTS[1], error)


def blocks(around):
    """The program of a training step of twelve products with gelu, each four in `around`."""
    strategy = harness.strategy(1)
    with strategy.scope():
        weights = [tf.Variable(tf.ones([512, 512])) for _ in range(12)]

    def block(x, weights):
        for each in weights:
            x = tf.nn.gelu(x @ each)
        return x

    def step(x):
        with tf.GradientTape() as tape:
            for start in range(0, 12, 4):
                x = around(block)(x, [each.read_value() for each in weights[start : start + 4]])
            loss = tf.reduce_mean(x**2)
        for each, gradient in zip(weights, tape.gradient(loss, weights)):
            each.assign_sub(0.1 * gradient)
        return loss

    return harness.lower(strategy, step, tf.TensorSpec([4096, 512]))


@pytest.mark.proof
def test_recomputing_by_hand_takes_less_memory_and_more_flops(compiled):
    plain, again = (
        compiled(blocks(around), "v5e:1x1", fast=True)
        for around in (lambda fn: fn, tf.recompute_grad)
    )
    assert again.memory.temporary < 0.75 * plain.memory.temporary
    # Of three products of a layer (one forward, two backward) the first is made again.
    assert 1.2 < again.cost.flops / plain.cost.flops < 1.4
