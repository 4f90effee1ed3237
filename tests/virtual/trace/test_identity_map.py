"""IdentityMap is a dictionary whose keys are told apart by what they are."""

import gc
import weakref

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from tpudist.virtual.trace.dependencies import IdentityMap


class Key:
    """Equal to every other key, and without a hash, as tensors are."""

    __hash__ = None

    def __eq__(self, other):
        return True


KEYS = [Key() for _ in range(4)]


@given(st.lists(st.tuples(st.sampled_from("sdg"), st.integers(0, 3), st.integers())))
def test_it_behaves_as_a_dictionary_of_positions(steps):
    made, model = IdentityMap(), {}
    for step, position, value in steps:
        if step == "s":
            made[KEYS[position]] = model[position] = value
        elif step == "d":
            assert made.pop(KEYS[position], None) == model.pop(position, None)
        else:
            assert made.get(KEYS[position]) == model.get(position)
            assert (KEYS[position] in made) == (position in model)
    assert len(made) == len(model)
    assert [next(i for i, key in enumerate(KEYS) if key is found) for found in made] == list(model)


def test_tensors_of_equal_value_are_two_keys():
    one, other = tf.constant(1.0), tf.constant(1.0)
    made = IdentityMap.of([one, other, one])
    assert len(made) == 2 and one in made and tf.constant(1.0) not in made


def test_a_key_lives_as_long_as_its_entry():
    """Else a new object could get the id of a dead one, and its entry."""
    key = Key()
    alive, made = weakref.ref(key), IdentityMap([(key, 1)])
    del key
    gc.collect()
    assert alive() is not None
    made.clear()
    gc.collect()
    assert alive() is None


def test_a_missing_key():
    with pytest.raises(KeyError):
        IdentityMap()[KEYS[0]]
