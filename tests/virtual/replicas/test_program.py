"""One trace for all replicas."""

import gc
import weakref

import pytest
import tensorflow as tf

from tests.helpers.generations import second_generation
from tpudist.errors import ContextError
from tpudist.system import cluster
from tpudist.tfcompat import versions
from tpudist.v2_0.strategy import TPUStrategy

SUM = tf.distribute.ReduceOp.SUM
CORES = 4

traced_once = pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="before 2.4 the replica function is traced once per replica"
)


@pytest.fixture
def strategy():
    return TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % CORES))


def run(strategy, fn, *args):
    """The per-replica numbers of `fn`, run in a tf.function."""

    @tf.function
    def call(*args):
        return strategy.experimental_run_v2(fn, args=args)

    return [part.numpy() for part in strategy.experimental_local_results(call(*args))]


def context():
    return tf.distribute.get_replica_context()


def number():
    return tf.cast(context().replica_id_in_sync_group, tf.float32)


@traced_once
def test_the_replica_function_is_called_once(strategy):
    calls = []

    def fn():
        calls.append(context().replica_id_in_sync_group)
        return number()

    assert run(strategy, fn) == [0, 1, 2, 3]
    assert len(calls) == 1


def test_a_captured_tensor_is_summed_over_replicas(strategy):
    # Found by README's example: the sum of a tensor that every replica only
    # passes on was taken for a value that is not distributed.
    assert run(strategy, lambda x: context().all_reduce(SUM, x), tf.constant(2.0)) == [8.0] * CORES


def test_merges_in_a_row_see_each_other(strategy):
    with strategy.scope():
        total = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)

    def fn():
        total.assign_add(number())
        first = total.read_value()
        total.assign_add(number())
        return total.read_value() + 100.0 * first

    assert run(strategy, fn) == [612.0] * CORES


def test_values_from_before_a_merge_are_used_after_it(strategy):
    def fn(x):
        before = x * number()
        summed = context().all_reduce(SUM, before)
        return summed + before

    assert run(strategy, fn, tf.constant(2.0)) == [12.0, 14.0, 16.0, 18.0]


def test_a_gradient_passes_through_an_all_reduce(strategy):
    def fn(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = context().all_reduce(SUM, x * (number() + 1.0)) ** 2
        return tape.gradient(y, x)

    # y = (1+2+3+4)^2 x^2; each replica's gradient sums over all replicas'.
    assert run(strategy, fn, tf.constant(1.0)) == [80.0, 160.0, 240.0, 320.0]


@traced_once
def test_the_replicas_meet_inside_of_a_nested_function(strategy):
    with strategy.scope():
        counted = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)

    @tf.function
    def count(x):
        counted.assign_add(x)
        return context().all_reduce(SUM, 2.0 * x)

    # As on MirroredStrategy without the tf.function: 1+2+3+4, and twice that.
    assert run(strategy, lambda: count(number() + 1.0) + counted) == [30.0] * CORES
    assert not tf.config.functions_run_eagerly()


@second_generation
def test_the_signature_of_the_replica_function_is_that_of_a_replica(strategy):
    with strategy.scope():
        total = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
    traces = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.float32)])
    def replica(x, factor):
        traces.append(x)
        total.assign_add(factor * tf.reduce_sum(x))
        return factor * x

    def numbers(context):
        return tf.constant([1.0, 2.0]) * context.replica_id_in_sync_group

    values = strategy.experimental_distribute_values_from_function(numbers)
    for factor in (2.0, 3.0):
        results = strategy.experimental_run_v2(replica, args=(values, factor))
        parts = strategy.experimental_local_results(results)
        assert [part.numpy().tolist() for part in parts] == [
            [factor * i, 2 * factor * i] for i in range(CORES)
        ]
    assert total.numpy() == (2.0 + 3.0) * 3 * sum(range(CORES))
    assert len(traces) <= CORES  # a number is no constant of the trace


@traced_once
def test_a_nested_function_with_a_tensor_as_condition_is_no_place_to_meet(strategy):
    @tf.function
    def reduce(x):
        if x > 1.0:
            x = 2.0 * x
        return context().all_reduce(SUM, x)

    with pytest.raises(ContextError, match="merge_call.*nested @tf.function"):
        run(strategy, lambda: reduce(number()))


def test_a_variable_may_be_created_in_the_first_call(strategy):
    made = []

    def fn():
        if not made:
            made.append(tf.Variable(tf.ones([2]) * 3.0, aggregation=tf.VariableAggregation.MEAN))
        made[0].assign_add(tf.ones([2]) * number())
        return made[0][0]

    assert run(strategy, fn) == [4.5] * CORES


def test_an_eager_function_is_traced_once_and_not_kept_alive(strategy):
    # Found by measuring: every lambda given to an eager run stayed alive.
    traces = []

    def fn(x):
        traces.append(x)
        return x + 1.0

    for _ in range(3):
        strategy.experimental_run_v2(fn, args=(tf.constant(1.0),))
    assert len(traces) == (1 if versions.TRACE_ONCE else CORES)
    del traces[:]
    alive = weakref.ref(fn)
    del fn
    gc.collect()
    assert alive() is None


@traced_once
@pytest.mark.parametrize("what", ["constant", "given", "all_reduce"])
def test_replicas_merge_outside_of_the_function(strategy, what):
    # Found by TensorFlow's strategy_common_test: tf.init_scope leaves the trace, and the
    # result of the merge was a tensor of the trace, which cannot be used there.
    def meet(*given):
        return context().merge_call(
            lambda _, *values: values[0] if values else tf.constant(11.0), args=given
        )

    def fn():
        with tf.init_scope():
            if what == "all_reduce":
                return context().all_reduce(SUM, tf.constant(2.5)) + 1.0
            return meet(*([tf.constant(11.0)] if what == "given" else [])) + 1.0

    assert run(strategy, fn) == [11.0 if what == "all_reduce" else 12.0] * CORES


@traced_once  # before, the label of a replica is current there, which 2.0 cannot read on
@pytest.mark.parametrize("nested", [True, False], ids=["function in run", "run in function"])
def test_a_variable_made_outside_of_the_function_has_its_value_there(strategy, nested):
    # Found by TensorFlow's vars_test: it was initialized when the function had been traced, so
    # that what read it in tf.init_scope got a tensor of no element.
    made = []

    def fn():
        with tf.init_scope():
            if not made:
                made.append(tf.Variable(3.0, aggregation=tf.VariableAggregation.MEAN))
                made.append(
                    tf.Variable(made[0].read_value(), aggregation=tf.VariableAggregation.MEAN)
                )
        return made[1].assign_add(2.0)

    if nested:
        found = strategy.experimental_local_results(strategy.experimental_run_v2(tf.function(fn)))
        assert [float(part) for part in found] == [5.0] * CORES
    else:
        assert run(strategy, fn) == [5.0] * CORES
