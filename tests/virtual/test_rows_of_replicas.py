"""Batches of pods, whose replicas' rows are one tensor."""

import numpy as np
import pytest
import tensorflow as tf

from tpudist.core import cluster
from tpudist.tfcompat import versions
from tpudist.v2_2.strategy import TPUStrategy

pytestmark = pytest.mark.skipif(
    not versions.LOOPS_ASK_THE_ITERATOR, reason="until 2.7 each host has a pipeline"
)

CORES = 64


@pytest.fixture
def strategy():
    return TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % CORES))


def distribute(strategy, rows=2, batches=2):
    """Batches of the numbers 0., 1., ...; `rows` for each replica."""
    count = rows * strategy.num_replicas_in_sync
    numbers = tf.data.Dataset.range(count * batches).map(lambda x: tf.cast(x, tf.float32))
    return strategy.experimental_distribute_dataset(numbers.batch(count, drop_remainder=True))


def parts(strategy, value):
    found = strategy.experimental_local_results(value)
    assert isinstance(found, tuple) and len(found) == CORES
    return np.stack([part.numpy() for part in found])


EXPECTED = np.arange(2.0 * CORES).reshape(CORES, 2)


def test_each_replica_has_its_part(strategy):
    batch = next(iter(distribute(strategy)))
    np.testing.assert_array_equal(parts(strategy, batch), EXPECTED)
    assert len(batch.values) == CORES
    assert isinstance(batch, tf.distribute.DistributedValues)
    (single,) = {type(leaf) for leaf in tf.nest.flatten(batch, expand_composites=True)}
    assert issubclass(single, tf.Tensor)


def test_a_signature_takes_it(strategy):
    dataset = distribute(strategy)
    traces = []

    @tf.function(input_signature=[dataset.element_spec])
    def total(batch):
        traces.append(batch)
        found = strategy.run(tf.reduce_sum, args=(batch,))
        return strategy.reduce("SUM", found, axis=None)

    assert [total(batch).numpy() for batch in dataset] == [8128.0, 24512.0]
    assert (
        tf.function(lambda: sum(total(batch) for batch in [next(iter(dataset))]))().numpy() == 8128
    )
    assert len(traces) == 1


def test_a_loop_and_a_branch_may_replace_it(strategy):
    double = lambda x: x * 2.0  # noqa: E731

    @tf.function
    def train(batch, flag):
        if flag:
            batch = strategy.run(double, args=(batch,))
        for _ in tf.range(2):
            batch = strategy.run(double, args=(batch,))
        return batch

    batch = next(iter(distribute(strategy)))
    np.testing.assert_array_equal(parts(strategy, train(batch, tf.constant(True))), EXPECTED * 8)
    again = train(train(batch, tf.constant(False)), tf.constant(False))
    np.testing.assert_array_equal(parts(strategy, again), EXPECTED * 16)


def test_a_function_takes_both_kinds(strategy):
    made = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(EXPECTED[context.replica_id_in_sync_group], tf.float32)
    )

    @tf.function
    def total(batch):
        return strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(batch,)), axis=None)

    assert total(made).numpy() == total(next(iter(distribute(strategy)))).numpy() == 8128.0


def test_it_is_reduced_and_gathered_in_eager_mode(strategy):
    batch = next(iter(distribute(strategy)))
    np.testing.assert_array_equal(strategy.reduce("SUM", batch, axis=None), EXPECTED.sum(0))
    assert strategy.reduce("MEAN", batch, axis=0).numpy() == EXPECTED.mean()
    summed = strategy.run(tf.function(tf.reduce_sum), args=(batch,))
    np.testing.assert_array_equal(parts(strategy, summed), EXPECTED.sum(1))


def _training(name):
    """(strategy, the iterator, the step) of a linear model on a slice."""
    strategy = TPUStrategy(cluster.TPUClusterResolver(name))
    with strategy.scope():
        weight = tf.Variable(1.0)
    iterator = iter(distribute(strategy))

    @tf.function
    def step(batch):
        def replica(x):
            gradient = tf.reduce_mean(x) * weight
            context = tf.distribute.get_replica_context()
            weight.assign_sub(context.all_reduce(tf.distribute.ReduceOp.MEAN, gradient) * 1e-4)
            return gradient

        return strategy.reduce("MEAN", strategy.run(replica, args=(batch,)), axis=None)

    return strategy, iterator, step


@pytest.mark.skipif(
    not versions.TYPE_SPECS_CAST, reason="functions cast their arguments since 2.15"
)
def test_nothing_of_a_step_grows_with_the_slice():
    """A v3-2048 slice: 256 hosts, and a step takes the tensors that one of 64 cores takes."""
    taken = []
    for name in ("virtual:v3-64", "virtual:v3-2048"):
        _, iterator, step = _training(name)
        taken.append(len(step.get_concrete_function(next(iterator)).inputs))
    assert taken[0] == taken[1]


def test_a_v3_2048_slice_trains():
    strategy, iterator, step = _training("virtual:v3-2048")
    assert strategy.extended.num_hosts == 256
    means = [np.arange(4096.0).mean(), np.arange(4096.0, 8192.0).mean()]
    first = step(next(iterator)).numpy()
    second = step(next(iterator)).numpy()
    np.testing.assert_allclose(first, means[0], rtol=1e-5)
    np.testing.assert_allclose(second, means[1] * (1 - 1e-4 * means[0]), rtol=1e-5)


def test_the_hosts_take_one_batch_with_one_op():
    for name in ("virtual:v3-32", "virtual:v3-2048"):
        strategy = TPUStrategy(cluster.TPUClusterResolver(name))
        iterator = iter(distribute(strategy))
        ops = (
            tf.function(lambda it: next(it)).get_concrete_function(iterator).graph.get_operations()
        )
        assert sum(op.type.startswith("IteratorGetNext") for op in ops) == 1
