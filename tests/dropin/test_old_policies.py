"""``tf.keras.mixed_precision.experimental``, by which programs of 1.15 to 2.3 choose bfloat16."""

import pytest

from tests.dropin.harness import drop_in
from tests.helpers.generations import second_generation
from tpudist.tfcompat import keras_packages


@second_generation
@pytest.mark.skipif(keras_packages.is_keras_3(), reason="the eras' Keras is not here")
@pytest.mark.parametrize("era", ["contrib", "v2_2"])
def test_bfloat16_is_chosen_by_a_policy_of_2_1(era):
    tf = drop_in(era)
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
