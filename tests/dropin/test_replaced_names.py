"""What a program sets or deletes in a drop-in namespace reaches TensorFlow's own modules."""

from unittest import mock

import pytest

from tests.dropin.harness import drop_in
from tpudist.dropin import namespace

native = pytest.importorskip("tensorflow")


def replacement(*args, **kwargs):
    """What the tests put in TensorFlow's place."""


@pytest.fixture(params=["not read before", "read before"])
def train(request, era):
    """A namespace's ``tf.train``, TensorFlow's module below it, and the function there."""
    tf = drop_in(era)
    space = tf.train if era == "contrib" else tf.compat.v1.train
    below = namespace.bases_of(space)[0]
    original = below.get_global_step
    vars(space).pop("get_global_step", None)
    if request.param == "read before":
        assert space.get_global_step is original
    yield space, below, original
    assert below.get_global_step is original and space.get_global_step is original


def test_a_replaced_function_is_the_librarys_until_it_is_put_back(train):
    space, below, original = train
    space.get_global_step = replacement
    assert space.get_global_step is replacement and below.get_global_step is replacement
    space.get_global_step = original


def test_mock_replaces_it_for_a_while(train):
    space, below, _ = train
    with mock.patch.object(space, "get_global_step") as mocked:
        assert below.get_global_step is mocked and space.get_global_step is mocked


def test_one_replacement_in_another(train):
    space, below, _ = train
    with mock.patch.object(space, "get_global_step") as outer:
        with mock.patch.object(space, "get_global_step") as inner:
            assert below.get_global_step is inner
        assert below.get_global_step is outer and space.get_global_step is outer


def test_what_is_deleted_is_gone_until_it_is_set_again(train, monkeypatch):
    space, below, _ = train
    with monkeypatch.context() as patches:
        patches.delattr(space, "get_global_step")
        assert not hasattr(space, "get_global_step")
        with pytest.raises(AttributeError):
            del space.get_global_step


def test_deleting_a_replacement_uncovers_the_original(train):
    space, below, original = train
    space.get_global_step = replacement
    del space.get_global_step
    assert space.get_global_step is original


def test_a_name_of_another_generation_stays(contrib, monkeypatch):
    v1, v2 = namespace.bases_of(contrib.train)
    monkeypatch.setattr(v2, "get_global_step", replacement, raising=False)
    monkeypatch.setattr(contrib.train, "get_global_step", mock.sentinel.new)
    assert v1.get_global_step is mock.sentinel.new
    assert v2.get_global_step is replacement


def test_the_eras_own_names_are_replaced_in_the_namespace_alone(tf, monkeypatch):
    own = native.distribute.experimental
    before = getattr(own, "TPUStrategy", None)
    monkeypatch.setattr(tf.distribute.experimental, "TPUStrategy", replacement)
    assert tf.distribute.experimental.TPUStrategy is replacement
    assert getattr(own, "TPUStrategy", None) is before
