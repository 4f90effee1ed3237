"""The names that only TensorFlow 1 has, against ``tf_upgrade_v2`` and what is installed."""

import pytest

from compat.make import first_generation
from tpudist import surfaces
from tpudist.surfaces.eras import names


@pytest.mark.parametrize("name", ["parse_single_example", "to_float", "train.AdamOptimizer"])
def test_what_only_tensorflow_1_has_tells_it(name):
    assert names.is_first_generation(name)


@pytest.mark.parametrize(
    "name", ["train.Coordinator", "random_normal_initializer", "keras.losses.cosine", "losses"]
    + ["initializers.he_normal", "compat.v1.to_float", "train.experimental.FixedLossScale"]
)  # fmt: skip
def test_what_tensorflow_2_had_too_does_not(name):
    assert not names.is_first_generation(name)


def test_no_tensorflow_2_has_one():
    tf = pytest.importorskip("tensorflow", minversion="2.0")
    assert [name for name in surfaces.FIRST_GENERATION if first_generation.is_there(tf, name)] == []


def test_the_list_is_fresh():
    pytest.importorskip("tensorflow", minversion="2.16")
    assert first_generation.names() == surfaces.FIRST_GENERATION, (
        "python -m compat.make.first_generation"
    )


def test_tensorflow_2_alone_has_its_names():
    tf = pytest.importorskip("tensorflow", minversion="2.21")
    for name in surfaces.SECOND_GENERATION:
        assert first_generation.is_there(tf, name), name
        assert not first_generation.is_there(tf.compat.v1, name), name
        assert names.is_second_generation(name) and not names.is_first_generation(name)
    assert not names.is_second_generation("compat.v2.random.set_seed")
