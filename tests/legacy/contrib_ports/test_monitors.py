"""Hooks pass ``replace_monitors_with_hooks``, as in TensorFlow 1.15."""

import pytest

tf = pytest.importorskip("tensorflow")

from tests.helpers.generations import first_generation  # noqa: E402
from tpudist import errors  # noqa: E402
from tpudist.contrib import tensorflow as contrib  # noqa: E402
from tpudist.legacy.contrib_ports import monitors  # noqa: E402

HOOKS = [tf.compat.v1.train.StepCounterHook(), tf.compat.v1.train.NanTensorHook("loss")]


@pytest.mark.parametrize("hooks", [None, (), HOOKS, tuple(HOOKS)])
def test_hooks_stay_as_they_are(hooks):
    assert monitors.replace_monitors_with_hooks(hooks, None) == list(hooks or ())
    found = contrib.contrib.learn.monitors.replace_monitors_with_hooks(hooks, None)
    assert found == list(hooks or ())


@first_generation
def test_the_oracle_is_tensorflow_1_15():
    native = tf.contrib.learn.monitors.replace_monitors_with_hooks
    assert native(HOOKS, None) == monitors.replace_monitors_with_hooks(HOOKS, None)


def test_a_monitor_is_refused():
    with pytest.raises(errors.ArgumentTypeError, match="SessionRunHook"):
        monitors.replace_monitors_with_hooks([object()], None)
