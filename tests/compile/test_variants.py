"""What a variant of `--fit` does to the layers that are made in it."""

import pytest
import tensorflow as tf

from tpudist.compile import variants
from tpudist.errors import CompileError
from tpudist.tfcompat import keras_packages, versions

pytestmark = pytest.mark.skipif(
    not versions.LOWERS_TO_HLO, reason="--fit compiles, for which TensorFlow 2.5 is needed"
)


def test_layers_compute_in_bfloat16_inside_and_as_before_afterwards():
    keras = keras_packages._of_eras()
    before = keras.mixed_precision.global_policy().name
    with variants.ALL[0].around():
        dense = keras.layers.Dense(3)
        assert dense(tf.ones([2, 4])).dtype == tf.bfloat16
        assert tf.as_dtype(dense.kernel.dtype) == tf.float32
    assert keras.mixed_precision.global_policy().name == before
    assert keras.layers.Dense(3)(tf.ones([2, 4])).dtype == tf.float32


def test_recomputing_is_keras_own_or_refused():
    keras = keras_packages._of_eras()
    if hasattr(keras, "RematScope"):
        with variants.ALL[1].around() as scope:
            assert scope.mode == "full"
    else:
        with pytest.raises(CompileError, match="tf.recompute_grad"):
            variants.ALL[1].around()
