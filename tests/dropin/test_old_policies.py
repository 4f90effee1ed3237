"""``tf.keras.mixed_precision.experimental``, by which programs of 2.1 to 2.3 choose bfloat16."""

import pytest

from tests.helpers.generations import second_generation
from tpudist.tfcompat import keras_packages


@second_generation
@pytest.mark.skipif(keras_packages.is_keras_3(), reason="the eras' Keras is not here")
def test_bfloat16_is_chosen_by_a_policy_of_2_1():
    from tpudist.v2_2 import tensorflow as tf

    precision = tf.keras.mixed_precision.experimental
    before = precision.global_policy()
    precision.set_policy(precision.Policy("mixed_bfloat16", loss_scale=None))
    try:
        layer = tf.keras.layers.Dense(1)
        assert layer(tf.ones([1, 1])).dtype == "bfloat16" and layer.kernel.dtype == "float32"
        assert precision.get_layer_policy(layer).name == "mixed_bfloat16"
        assert precision.global_policy().compute_dtype == "bfloat16"
    finally:
        precision.set_policy(before)
    assert not isinstance(tf.keras.optimizers.SGD(), precision.LossScaleOptimizer)
    assert tf.keras.layers.Dense(1)(tf.ones([1, 1])).dtype == "float32"
