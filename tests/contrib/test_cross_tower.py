"""reduce, broadcast, update and the rest of cross-tower context."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contrib.harness import close, strategy_of, tf1
from tpudist.contrib.distribute import VariableAggregation, get_tower_context
from tpudist.errors import ArgumentError, ArgumentTypeError, CollectiveError, PerReplicaError

SUM, MEAN = VariableAggregation.SUM, VariableAggregation.MEAN
FIRST = VariableAggregation.ONLY_FIRST_TOWER


def tens(distribution, offset=0.0):
    """A per-device value: 0, 10, 20, ... plus an offset."""
    return distribution.call_for_each_tower(
        lambda i: 10.0 * tf.cast(i, tf.float32) + offset, distribution.worker_device_index
    )


def variable(name, **kwargs):
    kwargs.setdefault("initializer", tf1.zeros_initializer())
    return tf1.get_variable(name, kwargs.pop("shape", []), **kwargs)


def local(name):
    return variable(
        name, trainable=False, aggregation=SUM, synchronization=tf.VariableSynchronization.ON_READ
    )


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [
        (SUM, 60.0),
        (MEAN, 15.0),
        (FIRST, 0.0),
        (tf.distribute.ReduceOp.SUM, 60.0),
        (tf.distribute.ReduceOp.MEAN, 15.0),
    ],
)
@pytest.mark.parametrize("where", ["variable", "value", "device", "devices", "one device"])
def test_reduce(mode, aggregation, expected, where):
    distribution = strategy_of(4)
    with distribution.scope():
        value = tens(distribution)
        destinations, copies = {
            "variable": lambda: (variable("v"), 4),
            "value": lambda: (value, 4),
            "device": lambda: ("/device:CPU:0", 1),
            "devices": lambda: (distribution.worker_devices, 4),
            "one device": lambda: (distribution.worker_devices[:1], 1),
        }[where]()
        reduced = distribution.reduce(aggregation, value, destinations)
        found = mode.run(distribution.unwrap(reduced))
    close(found, [expected] * copies)


def test_reduce_without_destinations_is_a_tensor(mode, scope):
    value = tens(scope)
    assert mode.run(scope.reduce(SUM, value)) == 60.0
    assert mode.run(scope.reduce(tf.distribute.ReduceOp.MEAN, value)) == 15.0
    assert mode.run(scope.reduce(reduce_op=tf.distribute.ReduceOp.SUM, value=value)) == 60.0


def test_reduce_outside_of_the_scope(mode):
    distribution = strategy_of(4)
    with distribution.scope():
        value = tens(distribution)
    assert mode.run(distribution.reduce(SUM, value)) == 60.0


@pytest.mark.parametrize(("aggregation", "expected"), [(SUM, 42.0), (MEAN, 42.0 / 12)])
def test_reduce_along_an_axis(mode, scope, aggregation, expected):
    value = scope.call_for_each_tower(
        lambda i: tf.fill([3], tf.cast(i, tf.float32) + 2.0), scope.worker_device_index
    )
    close(mode.run(scope.reduce(aggregation, value, axis=0)), expected)
    close(mode.run(scope.reduce(aggregation, value, 0)), expected)
    close(
        mode.run(scope.reduce(aggregation, value, axis=None)),
        [14.0 if aggregation == SUM else 3.5] * 3,
    )


def test_reduce_of_a_list_with_one_value_per_tower(mode, scope):
    values = scope.unwrap(tens(scope))
    assert mode.run(scope.reduce(MEAN, values, "/device:CPU:0")) == 15.0
    assert mode.run(scope.reduce(FIRST, values, "/device:CPU:0")) == 0.0


def test_reduce_of_a_nest(mode, scope):
    value = {"a": tens(scope), "b": tens(scope, 1.0)}
    assert mode.run(scope.reduce(SUM, value)) == {"a": 60.0, "b": 64.0}


def test_reduce_of_sparse_gradients(mode, scope):
    value = scope.call_for_each_tower(
        lambda i: tf.IndexedSlices(
            tf.reshape(tf.cast(i, tf.float32), [1]), tf.constant([1]), tf.constant([3])
        ),
        scope.worker_device_index,
    )
    reduced = scope.reduce(SUM, value, "/device:CPU:0")
    assert mode.run(tf.convert_to_tensor(reduced)).tolist() == [0.0, 6.0, 0.0]


def test_reduce_in_a_merge(mode, scope):
    def merge_fn(distribution, x):
        return [distribution.reduce(each, x, destinations=x) for each in (SUM, MEAN, FIRST)]

    def tower(i):
        return get_tower_context().merge_call(merge_fn, tf.cast(i, tf.float32) + 1)

    result = scope.call_for_each_tower(tower, scope.worker_device_index)
    found = [mode.run(scope.unwrap(each)) for each in result]
    assert found == [[10.0] * 4, [2.5] * 4, [1.0] * 4]


def test_batch_reduce(mode, scope):
    v = variable("v")
    pairs = [(tens(scope), v), (tens(scope, 1.0), "/device:CPU:0")]
    first, second = scope.batch_reduce(SUM, pairs)
    assert mode.run(scope.unwrap(first)) == [60.0] * 4
    assert mode.run(scope.unwrap(second)) == [64.0]


def test_broadcast(mode, scope):
    v = variable("v")
    for destinations, copies in [
        (None, 4),
        (v, 4),
        ("/device:CPU:0", 1),
        (scope.worker_devices, 4),
    ]:
        found = scope.broadcast(tf.constant(5.0), destinations)
        assert mode.run(scope.unwrap(found)) == [5.0] * copies
    assert mode.run(scope.unwrap(scope.broadcast(2))) == [2] * 4


def test_update_runs_once_per_copy(mode, scope):
    v = variable("v", initializer=tf1.ones_initializer())
    reduced = scope.reduce(SUM, tens(scope), destinations=v)
    done = scope.update(v, lambda copy, by, scale: copy.assign_add(by * scale), reduced, scale=2.0)
    mode.run(scope.unwrap(done))
    assert mode.run(scope.read_var(v)) == 121.0


def test_update_with_variables(mode, scope):
    var1 = variable("var1")
    with scope.colocate_vars_with(var1):
        var2 = variable("var2", initializer=tf1.ones_initializer())
        var3 = variable("var3", initializer=tf1.ones_initializer())
    done = scope.update(var1, lambda v1, v2, v3: v1.assign(v2 + 2.0 * v3), var2, var3)
    mode.run(scope.unwrap(done))
    assert mode.run(scope.read_var(var1)) == 3.0


def test_update_ungrouped_returns_a_list(mode, scope):
    v = variable("v")
    done = scope.update(v, lambda copy: copy.assign_add(3.0), grouped=False)
    assert isinstance(done, list)
    assert mode.run([tf.identity(each) for each in done][:1]) == [3.0]


def test_update_of_a_tower_local_variable(mode, scope):
    v = local("v")
    done = scope.update(v, lambda copy: copy.assign_add(3.0))
    mode.run(scope.unwrap(done))
    assert mode.run(scope.read_var(v)) == 12.0


def test_update_of_another_variable(mode):
    distribution = strategy_of(4)
    v = variable("plain")
    with distribution.scope():
        done = distribution.update(v, lambda copy, by: copy.assign_add(by), 5.0)
    mode.run(distribution.unwrap(done))
    assert mode.run(distribution.read_var(v)) == 5.0


def test_update_refuses_per_device_values(mode, scope):
    v = variable("v")
    with pytest.raises(PerReplicaError, match="reduce"):
        scope.update(v, lambda copy, by: copy.assign_add(by), tens(scope))


def test_read_var_aggregates(mode, scope):
    total, mirrored = local("total"), variable("mirrored")
    done = scope.call_for_each_tower(
        lambda i: total.assign_add(tf.cast(i, tf.float32) + 1.0), scope.worker_device_index
    )
    mode.run(scope.unwrap(done))
    assert mode.run(scope.read_var(total)) == 10.0
    assert mode.run(scope.read_var(mirrored)) == 0.0


def test_non_slot_variables(mode, scope):
    v = variable("v")
    devices = scope.non_slot_devices([v])
    assert isinstance(devices, list) and devices
    with scope.colocate_vars_with(devices):
        beta = variable("beta", initializer=tf1.ones_initializer())
    done = scope.update_non_slot(devices, lambda by: scope.unwrap(beta)[0].assign(by), 0.5)
    mode.run(scope.unwrap(done))
    assert mode.run(scope.read_var(beta)) == 0.5


def test_colocate_vars_with_a_variable(mode, scope):
    v = variable("v")
    with scope.colocate_vars_with(v):
        slot = variable("slot", shape=[2])
    assert len(scope.unwrap(slot)) == 4
    with pytest.raises(ArgumentError, match="scope"):
        scope.colocate_vars_with(3)


def test_unwrap(mode, scope):
    v = variable("v")
    assert len(scope.unwrap(v)) == 4
    assert len(scope.unwrap(local("local"))) == 4
    assert scope.unwrap(3) == [3]
    assert scope.unwrap("text") == ["text"]
    assert scope.unwrap([1, 2]) == [1, 2]
    pair = (tens(scope), tens(scope, 1.0))
    assert mode.run(scope.unwrap(pair)) == [(0.0, 1.0), (10.0, 11.0), (20.0, 21.0), (30.0, 31.0)]


def test_value_container(mode, scope):
    v = local("v")
    for part in scope.unwrap(v):
        container = scope.value_container(part)
        assert container is v
        assert any(part is each for each in scope.unwrap(container))
    assert scope.value_container(v) is v
    assert scope.value_container(3) == 3
    mirrored = variable("mirrored")
    assert scope.value_container(scope.unwrap(mirrored)[0]) is mirrored


def test_group_runs_every_tower(graph, scope):
    v = local("v")
    done = scope.call_for_each_tower(lambda: v.assign_add(1.0).op)
    op = scope.group(done, name="all")
    assert isinstance(op, tf.Operation) and op.name == "all"
    graph.run(op)
    assert graph.run(scope.read_var(v)) == 4.0


def test_group_of_one_value(graph, scope):
    x = tf.constant(1.0)
    assert scope.group(x) is x.op


def test_map(mode, scope):
    results = scope.map([1.0, 2.0, 4.0], lambda item, by: by * tf.constant(item), 3.0)
    assert mode.run(results.get()) == [3.0, 6.0, 12.0]
    assert mode.run(scope.unwrap(results)) == [3.0, 6.0, 12.0]
    assert mode.run(scope.reduce(SUM, results, "/device:CPU:0")) == 21.0


@pytest.mark.parametrize("aggregation", [VariableAggregation.NONE, "median", None, 7])
def test_unknown_aggregation(graph, scope, aggregation):
    with pytest.raises(ArgumentError, match="SUM, MEAN"):
        scope.reduce(aggregation, tens(scope), "/device:CPU:0")


@pytest.mark.parametrize("destinations", [3.5, [], {"a": 1}])
def test_unknown_destinations(graph, scope, destinations):
    with pytest.raises(ArgumentTypeError, match="device string"):
        scope.reduce(SUM, tens(scope), destinations)


def test_sum_of_a_single_value(graph, scope):
    with pytest.raises(CollectiveError, match="Instead: .*call_for_each_replica"):
        scope.reduce(SUM, tf.constant(1.0), "/device:CPU:0")
    assert graph.run(scope.reduce(MEAN, tf.constant(1.0), "/device:CPU:0")) == 1.0


def test_towers_of_different_shapes(graph, scope):
    value = scope.call_for_each_tower(lambda: tf.zeros([1 + get_tower_context().tower_id]))
    with pytest.raises(CollectiveError, match="shapes.*axis=0"):
        scope.reduce(SUM, value, "/device:CPU:0")
    assert np.all(graph.run(scope.reduce(SUM, value, axis=0)) == 0.0)
