"""``get(device)`` and ``get()`` of every value that towers, updates and reductions give."""

import pytest
import tensorflow as tf

from tests.contrib.harness import close, strategy_of, tf1
from tests.helpers import cores
from tpudist import errors
from tpudist.tfcompat import versions

TOWERS = 3

#: On devices, variables and what updates give are TensorFlow's own.
without_get = pytest.mark.xfail(
    cores.KIND != "" and not versions.BY_DEVICE,
    raises=AttributeError,
    reason="since 2.2 they have no get()",
    strict=True,
)


def tower():
    """A number of its own for each tower."""
    context = tf.distribute.get_replica_context()
    return tf.cast(context.replica_id_in_sync_group, tf.float32) + 1.0


def variable(**kwargs):
    return tf1.get_variable("v", initializer=5.0, use_resource=True, **kwargs)


def per_tower_variable():
    return variable(
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
        trainable=False,
    )


def mean(distribution):
    value = distribution.call_for_each_tower(tower)
    return distribution.reduce(tf.VariableAggregation.MEAN, value, destinations=None)


def added(distribution):
    made = variable(aggregation=tf.VariableAggregation.MEAN)
    return distribution.update(made, lambda each: each.assign_add(1.0))


def assigned(distribution):
    made = variable(aggregation=tf.VariableAggregation.MEAN)
    return distribution.call_for_each_tower(lambda: made.assign(tower()))


#: {what gives it: (the value, what each tower has)}
VALUES = {
    "towers": (lambda d: d.call_for_each_tower(tower), [1.0, 2.0, 3.0]),
    "a variable of towers": (lambda d: d.call_for_each_tower(variable), [5.0] * TOWERS),
    "a variable": (lambda d: variable(), [5.0] * TOWERS),
    "a variable per tower": (lambda d: per_tower_variable(), [5.0] * TOWERS),
    "an update": (added, [6.0] * TOWERS),
    "an assignment of towers": (assigned, [2.0] * TOWERS),
    "a broadcast": (lambda d: d.broadcast(tf.constant(4.0)), [4.0] * TOWERS),
}


OF_VARIABLES = [kind for kind in VALUES if "variable" in kind or kind == "an update"]


@pytest.mark.parametrize(
    "kind",
    [pytest.param(k, marks=[without_get] if k in OF_VARIABLES else []) for k in sorted(VALUES)],
)
def test_each_device_has_its_component(mode, kind):
    make, expected = VALUES[kind]
    distribution = strategy_of(TOWERS)
    with distribution.scope():
        value = make(distribution)
        parts = [value.get(device) for device in distribution.worker_devices]
        close(mode.run([tf.identity(part) for part in parts]), expected)


@without_get
def test_in_a_merge_and_in_a_tower(mode):
    distribution = strategy_of(TOWERS)
    devices = list(distribution.worker_devices)

    def merge(distribution, value):
        return value.get(devices[1])

    def both(value):
        context = tf.distribute.get_replica_context()
        own = tower()
        return own + made.get(), context.merge_call(merge, args=(own,))

    with distribution.scope():
        made = variable()
        sums, second = distribution.call_for_each_tower(both, 0.0)
        close(mode.run(distribution.unwrap(sums)), [6.0, 7.0, 8.0])
        assert set(mode.run(distribution.unwrap(second))) == {2.0}


@pytest.mark.skipif(cores.KIND != "", reason="the devices have names of their own")
@pytest.mark.parametrize("kind", ["towers", "a variable", "a variable per tower"])
def test_a_device_that_is_none_of_the_towers(mode, kind):
    # 1.14 and 1.15 gave the first tower's component.
    make, expected = VALUES[kind]
    distribution = strategy_of(TOWERS)
    with distribution.scope():
        value = make(distribution)
        for device in ("/device:TPU:99", "/device:CPU:1", "/device:CPU:0", "/device:GPU:0"):
            with pytest.raises(errors.ArgumentError, match="has a component on each of"):
                value.get(device)
        close(mode.run(tf.identity(value.get("/device:TPU:1"))), expected[1])
