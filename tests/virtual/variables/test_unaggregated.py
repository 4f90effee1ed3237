"""Updates with values that differ per replica: each copy of a variable gets its own."""

import contextlib

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.keras.optimizer_v2 import adam, gradient_descent

from tpudist.errors import ContextError
from tpudist.system import cluster
from tpudist.tfcompat import distributed, versions
from tpudist.v2_2.strategy import TPUStrategy
from tpudist.virtual.variables import stored_once

CORES = 3

pytestmark = pytest.mark.skipif(
    versions.BY_DEVICE, reason="until 2.1 an update takes no values that differ per replica"
)


@pytest.fixture
def strategy():
    return TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % CORES))


def number():
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def run(strategy, fn, calls=1):
    """The per-replica numbers of the last of some calls of one step."""
    step = tf.function(lambda: strategy.run(fn))
    for _ in range(calls):
        found = step()
    return [part.numpy().tolist() for part in strategy.experimental_local_results(found)]


def parts(strategy, variable):
    return [part.numpy().tolist() for part in strategy.experimental_local_results(variable)]


#: Of the Keras whose optimizers take `experimental_aggregate_gradients`.
OPTIMIZERS = {
    "descent": lambda: gradient_descent.SGD(0.5),
    "momentum": lambda: gradient_descent.SGD(0.5, momentum=0.5),
    "adam": lambda: adam.Adam(0.5),
}


@pytest.mark.parametrize("calls", [1, 3])
@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_unaggregated_gradients_update_each_copy(strategy, name, calls):
    with strategy.scope():
        variable = tf.Variable([1.0, 2.0])
        optimizer = OPTIMIZERS[name]()

    def fn():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variable**2) * (number() + 1.0)
        optimizer.apply_gradients(
            [(tape.gradient(loss, variable), variable)], experimental_aggregate_gradients=False
        )
        return variable.read_value()

    expected = []
    for replica_id in range(CORES):
        alone, separate = tf.Variable([1.0, 2.0]), OPTIMIZERS[name]()
        for _ in range(calls):
            separate.apply_gradients([(2.0 * alone * (replica_id + 1.0), alone)])
        expected.append(alone.numpy())
    np.testing.assert_allclose(run(strategy, fn, calls), expected, 1e-5)
    np.testing.assert_allclose(parts(strategy, variable), expected, 1e-5)


def update(variable, value):
    """`variable` plus each replica's `value`, not aggregated."""

    def merge(strategy, value):
        strategy.extended.update(variable, lambda v, x: v.assign_add(x), args=(value,))

    tf.distribute.get_replica_context().merge_call(merge, args=(value,))


def test_an_update_takes_each_replicas_value(strategy):
    with strategy.scope():
        variable = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)

    def fn():
        before = variable.read_value()
        update(variable, number() * 10.0)
        return before * 100.0 + variable.read_value()

    assert run(strategy, fn) == [101.0, 111.0, 121.0]
    assert run(strategy, fn) == [101.0, 1121.0, 2141.0]
    assert parts(strategy, variable) == [1.0, 21.0, 41.0]


def test_an_update_with_a_sum_is_still_done_once(strategy):
    with strategy.scope():
        variable = tf.Variable(1.0)

    def merge(tpu, value):
        total = tpu.extended.reduce_to(tf.distribute.ReduceOp.SUM, value, variable)
        tpu.extended.update(variable, lambda v, x: v.assign_add(x), args=(total,))

    def fn():
        tf.distribute.get_replica_context().merge_call(merge, args=(number(),))
        return variable.read_value()

    assert run(strategy, fn) == [4.0] * CORES
    assert len({id(part) for part in distributed.components(variable)}) == 1


def test_splitting_a_variable_that_an_earlier_function_read_is_refused(strategy):
    with strategy.scope():
        variable = tf.Variable(1.0, name="kernel")
    assert run(strategy, lambda: variable + number()) == [1.0, 2.0, 3.0]

    def fn():
        update(variable, number())
        return number()

    with pytest.raises(ContextError, match="kernel.*built earlier"):
        run(strategy, fn)


@pytest.mark.parametrize("clipped", [False, True])
@pytest.mark.parametrize("calls", [1, 2])
def test_a_value_computed_from_a_sum_is_uniform(strategy, clipped, calls):
    with strategy.scope():
        variable = tf.Variable([1.0, 2.0])
        rate = tf.Variable(0.5, trainable=False)

    def apply(tpu, gradient):
        tpu.extended.update(variable, lambda v, g: v.assign_sub(g), args=(gradient,))

    def fn():
        context = tf.distribute.get_replica_context()
        gradient = context.all_reduce(tf.distribute.ReduceOp.SUM, tf.ones([2]) * number())
        if clipped:
            gradient = tf.clip_by_global_norm([gradient], 1.0)[0][0]
        gradient = tf.cond(rate > 0.0, lambda: gradient * rate, lambda: gradient)
        context.merge_call(apply, args=(gradient,))
        return variable.read_value()

    step = 0.5**0.5 / 2 if clipped else 1.5
    expected = [[1.0 - calls * step, 2.0 - calls * step]] * CORES
    np.testing.assert_allclose(run(strategy, fn, calls), expected, 1e-5)
    assert len({id(part) for part in distributed.components(variable)}) == 1


AGGREGATIONS = [tf.VariableAggregation.NONE, tf.VariableAggregation.SUM]


@pytest.mark.parametrize("mode", ["eager", "graph"])
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("make", [distributed.per_replica, distributed.mirrored])
@pytest.mark.parametrize("leaf", [float, tf.constant])
def test_updates_across_replicas_with_numbers_and_tensors(mode, aggregation, make, leaf):
    """TensorFlow's own tests make values of Python numbers, and mirrored ones that differ."""
    graph = tf.Graph() if mode == "graph" else None
    with contextlib.ExitStack() as stack:
        if graph:
            stack.enter_context(graph.as_default())
        strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % CORES))
        with strategy.scope():
            variable = tf.Variable(0.0, aggregation=aggregation)
        given = make(strategy.extended, [leaf(x) for x in (1.0, 2.0, 3.0)])
        update = strategy.extended.update(variable, lambda v, x: v.assign(x), args=(given,))
        found = list(strategy.experimental_local_results(variable))
        if graph:
            with tf.compat.v1.Session() as session:
                session.run(tf.compat.v1.global_variables_initializer())
                session.run(update)
                found = session.run(found)
    assert [float(x) for x in found] == [1.0, 2.0, 3.0]


def test_an_update_with_one_value_leaves_a_variable_stored_once(strategy):
    with strategy.scope():
        variable = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
    reduced = strategy.extended.reduce_to(
        tf.distribute.ReduceOp.SUM,
        distributed.per_replica(strategy.extended, [tf.constant(x) for x in (1.0, 2.0, 3.0)]),
        variable,
    )
    for value in (reduced, distributed.per_replica(strategy.extended, [6.0] * CORES)):
        strategy.extended.update(variable, lambda v, x: v.assign(x), args=(value,))
        assert parts(strategy, variable) == [6.0] * CORES
        assert stored_once.is_stored_once(variable)
