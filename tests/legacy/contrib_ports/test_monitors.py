"""Hooks pass ``replace_monitors_with_hooks``, as in TensorFlow 1.15."""

import pytest

tf = pytest.importorskip("tensorflow")

from tests.helpers.generations import first_generation  # noqa: E402
from tpudist import errors  # noqa: E402
from tpudist.contrib import tensorflow as contrib  # noqa: E402
from tpudist.legacy.contrib_ports import monitors  # noqa: E402

ESTIMATOR = contrib.estimator.Estimator(lambda features: None)
HOOKS = [tf.compat.v1.train.StepCounterHook(), tf.compat.v1.train.NanTensorHook("loss")]


@pytest.mark.parametrize("hooks", [None, (), HOOKS, tuple(HOOKS)])
def test_hooks_stay_as_they_are(hooks):
    assert monitors.replace_monitors_with_hooks(hooks, ESTIMATOR) == list(hooks or ())
    found = contrib.contrib.learn.monitors.replace_monitors_with_hooks(hooks, ESTIMATOR)
    assert found == list(hooks or ())


@first_generation
def test_the_oracle_is_tensorflow_1_15():
    native = tf.contrib.learn.monitors.replace_monitors_with_hooks
    assert native(HOOKS, ESTIMATOR) == monitors.replace_monitors_with_hooks(HOOKS, ESTIMATOR)


def test_a_monitor_is_refused():
    with pytest.raises(errors.ArgumentTypeError, match="SessionRunHook"):
        monitors.replace_monitors_with_hooks([object()], ESTIMATOR)
