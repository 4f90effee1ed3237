"""Datasets that each host makes for itself, iterated over outside of functions."""

import inspect

import numpy as np
import pytest
import tensorflow as tf

from tpudist.system import cluster
from tpudist.tfcompat import versions
from tpudist.v2_2.strategy import TPUStrategy

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not versions.ITERATORS_ARE_ARGUMENTS, reason="TensorFlow's own iterators until 2.1"
    ),
]

#: 4 and 8 hosts of 8 cores.
SLICES = ["virtual:v3-32", "virtual:v3-64"]


def numbers(host, rows):
    return tf.data.Dataset.range(host * 1000, host * 1000 + rows)


DATASETS = {
    "even": lambda host: numbers(host, 32).batch(2, drop_remainder=True),
    "a last batch": lambda host: numbers(host, 37).batch(2),
    "fewer shares than replicas": lambda host: numbers(host, 7).batch(3),
    "hosts that end before others": lambda host: numbers(host, 16 * (1 + host % 3)).batch(2),
    "a host without data": lambda host: numbers(host, 16 if host else 0).batch(2),
    "nothing": lambda host: numbers(host, 0).batch(2),
    "no end": lambda host: numbers(host, 5).batch(3).repeat(),
    "numbers, not rows": lambda host: numbers(host, 16),
    "a partial batch in the middle": lambda host: numbers(host, 15).batch(2).repeat(2),
    "nest": lambda host: (
        numbers(host, 32)
        .map(lambda x: {"name": tf.strings.as_string(x), "pair": (x, tf.stack([x > 3, x < 9]))})
        .batch(2, drop_remainder=True)
    ),
    "nest with a last batch": lambda host: (
        numbers(host, 21).map(lambda x: (tf.strings.as_string(x), tf.zeros([2, 3]) + 1.0)).batch(2)
    ),
    "fixed rows, unknown columns": lambda host: (
        numbers(host, 21).map(lambda x: tf.range(x % 3)).padded_batch(2, [None])
    ),
}
MOST = 4  # batches that are looked at


def expected(name, hosts):
    """The leaves of each replica's share, batch by batch."""
    each = [
        [
            [leaf.numpy() for leaf in tf.nest.flatten(element)]
            for element in DATASETS[name](host).take(MOST * 8)
        ]
        for host in range(hosts)
    ]
    for start in range(0, MOST * 8, 8):
        shares = [one[start : start + 8] for one in each]
        if not any(shares):
            return
        yield [share for one in shares for share in one + [None] * (8 - len(one))]


def iterate(strategy, name):
    made = strategy.experimental_distribute_datasets_from_function(
        lambda context: DATASETS[name](context.input_pipeline_id)
    )
    return iter(made), made.element_spec


@pytest.mark.parametrize("slice_name", SLICES)
@pytest.mark.parametrize("name", DATASETS)
def test_each_replica_gets_the_next_share_of_its_host(name, slice_name):
    strategy = TPUStrategy(cluster.TPUClusterResolver(slice_name))
    iterator, spec = iterate(strategy, name)
    batches = list(expected(name, strategy.extended.num_hosts))
    for shares in batches:
        found = next(iterator)
        tf.nest.assert_same_structure(spec, found)
        by_leaf = [strategy.experimental_local_results(leaf) for leaf in tf.nest.flatten(found)]
        for i, share in enumerate(shares):
            for leaf, wanted in zip([parts[i] for parts in by_leaf], share or [None] * 9):
                if wanted is None:
                    assert leaf.shape[0] == 0
                else:
                    np.testing.assert_array_equal(leaf, wanted)
    if len(batches) < MOST:
        for _ in range(2):
            with pytest.raises(tf.errors.OutOfRangeError):
                iterator.get_next()
        assert list(iterator) == []


@pytest.mark.parametrize(
    ("name", "slice_name"),
    [("nest", SLICES[1]), ("a last batch", SLICES[0]), ("nothing", SLICES[0])],
)
def test_functions_and_eager_code_take_turns_on_an_iterator(name, slice_name):
    """An iterator goes on where the other has left it, and gives what the other gives."""
    strategy = TPUStrategy(cluster.TPUClusterResolver(slice_name))
    inside = tf.function(lambda it: it.get_next())
    found = []
    for turn in (0, 1):
        iterator, _ = iterate(strategy, name)
        found.append([])
        for step in range(len(list(expected(name, strategy.extended.num_hosts)))):
            batch = inside(iterator) if (step + turn) % 2 else next(iterator)
            found[-1] += [
                part.numpy().tolist()
                for leaf in tf.nest.flatten(batch)
                for part in strategy.experimental_local_results(leaf)
            ]
        with pytest.raises(tf.errors.OutOfRangeError):
            inside(iterator) if turn else iterator.get_next()
    assert found[0] == found[1] and bool(found[0]) == (name != "nothing")


def test_a_step_takes_the_shares_of_all_hosts():
    strategy = TPUStrategy(cluster.TPUClusterResolver(SLICES[1]))

    @tf.function
    def step(batch):
        return strategy.reduce("SUM", strategy.run(tf.reduce_sum, (batch,)), axis=None)

    for name in ("even", "a last batch"):
        iterator, _ = iterate(strategy, name)
        batch = next(iterator)
        total = sum(host * 1000 * 16 for host in range(8)) + 8 * sum(range(16))
        assert step(batch).numpy() == total


def test_an_error_of_a_dataset_is_raised_and_its_element_skipped():
    strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:v3-64"))

    def of_host(context):
        failing = -1 if context.input_pipeline_id != 3 else 3002
        return numbers(context.input_pipeline_id, 30).map(
            lambda x: tf.debugging.check_numerics(tf.where(x == failing, np.nan, 1.0), "") * 0 + 1
        )

    for batched in (lambda ds: ds.batch(1), lambda ds: ds.batch(1, drop_remainder=True)):
        iterator = iter(
            strategy.experimental_distribute_datasets_from_function(
                lambda context, batched=batched: batched(of_host(context))
            )
        )
        with pytest.raises(tf.errors.InvalidArgumentError):
            next(iterator)
        parts = strategy.experimental_local_results(next(iterator))
        assert [part.numpy().tolist() for part in parts] == [[1.0]] * 64


def test_get_next_is_refused_in_replica_context():
    from tensorflow.python.distribute import input_lib  # 1.13 has no such module

    strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:v3-64"))
    iterator, _ = iterate(strategy, "even")
    if "should be called from outside" in inspect.getsource(input_lib):  # from 2.6 on
        with pytest.raises(ValueError, match="next\\(iterator\\)"):
            strategy.run(tf.function(lambda: iterator.get_next()))
        with tf.distribute.OneDeviceStrategy("/cpu:0").scope(), pytest.raises(RuntimeError):
            iterator.get_next()
    with strategy.scope():
        next(iterator)
