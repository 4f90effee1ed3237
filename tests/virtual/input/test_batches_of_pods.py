"""Batches of slices with many hosts."""

import numpy as np
import pytest
import tensorflow as tf

from tpudist.system import cluster
from tpudist.tfcompat import versions
from tpudist.v2_2.strategy import TPUStrategy

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not versions.LOOPS_ASK_THE_ITERATOR, reason="until 2.7 each host has a pipeline"
    ),
]

CORES = 32


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
    assert len(tf.nest.flatten(batch, expand_composites=True)) == CORES


def test_a_batch_matches_an_input_signature(strategy):
    dataset = distribute(strategy)
    traces = []

    @tf.function(input_signature=[dataset.element_spec])
    def total(batch):
        traces.append(batch)
        found = strategy.run(tf.reduce_sum, args=(batch,))
        return strategy.reduce("SUM", found, axis=None)

    assert [total(batch).numpy() for batch in dataset] == [2016.0, 6112.0]
    assert (
        tf.function(lambda: sum(total(batch) for batch in [next(iter(dataset))]))().numpy() == 2016
    )
    assert len(traces) == 1


def test_a_loop_and_a_branch_may_replace_a_batch(strategy):
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


def others(strategy, change=lambda row: row):
    """A per-replica value of one tensor for each replica."""
    return strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(change(EXPECTED[context.replica_id_in_sync_group]), tf.float32)
    )


def ids_of_replicas():
    number = tf.distribute.get_replica_context().replica_id_in_sync_group
    return tf.fill([2], tf.cast(number, tf.float32))


BRANCHES = {
    "of another function": lambda strategy, batch, other: other,
    "of replicas that take nothing": lambda strategy, batch, other: strategy.run(ids_of_replicas),
    "of another shape": lambda strategy, batch, other: strategy.run(lambda x: x[:1], (batch,)),
    "of unknown sizes": lambda strategy, batch, other: strategy.run(
        lambda x: tf.boolean_mask(x, x > 2), (batch,)
    ),
}
OF_BRANCHES = {
    "of another function": -EXPECTED,
    "of replicas that take nothing": np.stack([np.arange(CORES)] * 2, 1),
    "of another shape": EXPECTED[:, :1],
    "of unknown sizes": [row[row > 2] for row in EXPECTED],
}


@pytest.mark.parametrize("case", BRANCHES)
def test_one_branch_returns_a_batch_and_the_other_another_value(strategy, case):
    @tf.function
    def by_cond(batch, other, flag):
        return tf.cond(flag, lambda: (batch,), lambda: (BRANCHES[case](strategy, batch, other),))

    @tf.function
    def by_if(batch, other, flag):
        found = {"rows": batch}
        if not flag:
            found = {"rows": BRANCHES[case](strategy, batch, other)}
        return (found["rows"],)

    batch, other = next(iter(distribute(strategy))), others(strategy, np.negative)
    for choose in (by_cond, by_if):
        np.testing.assert_array_equal(
            parts(strategy, choose(batch, other, tf.constant(True))[0]), EXPECTED
        )
        found = strategy.experimental_local_results(choose(batch, other, tf.constant(False))[0])
        for expected, part in zip(OF_BRANCHES[case], found):
            np.testing.assert_array_equal(part, expected)


def test_a_loop_swaps_a_batch_with_another_value(strategy):
    @tf.function
    def swapped(batch, other):
        for _ in tf.range(3):
            batch, other = other, batch
        return tf.while_loop(
            lambda i, *unused: i < 2, lambda i, a, b: (i + 1, b, a), (0, batch, other)
        )

    _, first, second = swapped(next(iter(distribute(strategy))), others(strategy, np.negative))
    np.testing.assert_array_equal(parts(strategy, first), -EXPECTED)
    np.testing.assert_array_equal(parts(strategy, second), EXPECTED)


def test_batches_and_other_values_have_one_type(strategy):
    dataset, other = distribute(strategy), others(strategy)
    batch = next(iter(dataset))
    tf.nest.assert_same_structure(batch, other, expand_composites=True)
    assert dataset.element_spec.is_compatible_with(batch)
    for like in (batch, other):
        spec = tf.nest.map_structure(tf.type_spec_from_value, like)
        assert spec == dataset.element_spec
        total = tf.function(lambda x: strategy.reduce("SUM", x, axis=None), input_signature=[spec])
        np.testing.assert_array_equal(total(batch), EXPECTED.sum(0))
        np.testing.assert_array_equal(total(other), EXPECTED.sum(0))


def test_a_function_takes_a_batch_twice_and_calls_another(strategy):
    doubled = tf.function(lambda x: strategy.run(lambda y: y * 2, (x,)))

    @tf.function
    def step(one, other, factor, again):
        summed = strategy.run(lambda a, b, c: a + factor * b - c, (one, other, again))
        return one, doubled(doubled(summed))

    batch = next(iter(distribute(strategy)))
    same, found = step(batch, batch, tf.constant(3.0), others(strategy))
    np.testing.assert_array_equal(parts(strategy, same), EXPECTED)
    np.testing.assert_array_equal(parts(strategy, found), EXPECTED * 12)


def test_a_function_takes_batches_and_other_values(strategy):
    made = others(strategy)

    @tf.function
    def total(batch):
        return strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(batch,)), axis=None)

    assert total(made).numpy() == total(next(iter(distribute(strategy)))).numpy() == 2016.0


def test_a_batch_is_reduced_and_gathered_in_eager_mode(strategy):
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
