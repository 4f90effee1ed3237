"""Which datasets the hosts share, and which rows of a batch each replica gets, written out."""

import pytest
import tensorflow as tf

from tpudist.system import cluster
from tpudist.tfcompat import versions
from tpudist.v2_2.strategy import TPUStrategy

if versions.LOOPS_ASK_THE_ITERATOR:
    from tpudist.virtual.input import global_batches

pytestmark = pytest.mark.skipif(
    not versions.LOOPS_ASK_THE_ITERATOR, reason="until 2.7 each host has a pipeline"
)

HOSTS, REPLICAS = 4, 32
POD = "virtual:v3:4x4"  # 4 hosts of 8 cores


def numbers(count):
    return tf.data.Dataset.range(count)


def ragged():
    return (
        numbers(64)
        .map(lambda x: tf.range(x % 3))
        .apply(tf.data.experimental.dense_to_ragged_batch(64))
    )


def with_policy(dataset, name):
    options = tf.data.Options()
    policy = getattr(tf.data.experimental.AutoShardPolicy, name)
    options.experimental_distribute.auto_shard_policy = policy
    return dataset.with_options(options)


def lines():
    return tf.data.TextLineDataset(["no file is read"])


def of_generator():
    return tf.data.Dataset.from_generator(lambda: [1], tf.int64, tf.TensorShape([]))


#: {what it is: (function that makes it, whether it is shared by 4 hosts, and by the cores of one)}.
DATASETS = {
    "batches": (lambda: numbers(64).batch(64, drop_remainder=True), True, True),
    "batches of unknown size": (lambda: numbers(64).batch(64), True, False),
    "batches that do not divide": (lambda: numbers(60).batch(30, drop_remainder=True), True, False),
    "tensors": (lambda: tf.data.Dataset.from_tensors(tf.zeros([64, 2])), True, True),
    "nothing in a batch": (lambda: tf.data.Dataset.from_tensors(tf.zeros([0, 2])), True, False),
    "two sizes": (
        lambda: tf.data.Dataset.from_tensors((tf.zeros([64]), tf.zeros([32]))),
        True,
        False,
    ),
    "a generator's": (lambda: of_generator().batch(64), True, False),
    "numbers alone": (lambda: numbers(64), False, False),
    "no rank": (
        lambda: numbers(64).map(lambda x: tf.numpy_function(lambda y: y, [x], tf.int64)),
        False,
        False,
    ),
    "ragged": (ragged, False, False),
    "lines of a file": (lambda: lines().batch(64), False, False),
    "files in a function": (
        lambda: numbers(4).interleave(lambda x: lines(), cycle_length=1).batch(64),
        False,
        False,
    ),
    "numbers for each of some": (
        lambda: numbers(4).interleave(numbers, cycle_length=1).batch(64),
        True,
        False,
    ),
    "files that the user shares": (lambda: with_policy(lines().batch(64), "DATA"), True, False),
    "all data for each host": (lambda: with_policy(numbers(64).batch(64), "OFF"), False, False),
}


def extended(name):
    return TPUStrategy(cluster.TPUClusterResolver(name)).extended


@pytest.mark.parametrize("kind", DATASETS)
def test_what_hosts_and_cores_share(kind):
    make, by_hosts, by_cores = DATASETS[kind]
    assert global_batches.fits(extended(POD), make()) == by_hosts
    assert global_batches.fits(extended("virtual:8"), make()) == by_cores


def test_one_core_and_a_pipeline_for_each_replica_share_nothing():
    dataset = numbers(64).batch(64, drop_remainder=True)
    assert not global_batches.fits(extended("virtual:1"), dataset)
    mode = tf.distribute.InputReplicationMode
    for name, fits in [("PER_WORKER", True), ("PER_REPLICA", False)]:
        options = tf.distribute.InputOptions(experimental_replication_mode=getattr(mode, name))
        assert global_batches.fits(extended(POD), dataset, options) == fits


def rows_of(batch, piece):
    """The rows of each replica: host h has the pieces h, h + 4 and so on of a batch."""
    pieces = [batch[piece * i : piece * (i + 1)] for i in range(REPLICAS)]
    return [each for host in range(HOSTS) for each in pieces[host::HOSTS]]


def read(strategy, value):
    return [part.numpy().tolist() for part in strategy.experimental_local_results(value)]


@pytest.mark.parametrize("drops", [True, False], ids=["whole batches", "a last batch"])
def test_which_rows_each_replica_gets(drops):
    strategy = TPUStrategy(cluster.TPUClusterResolver(POD))
    dataset = numbers(70).batch(64, drop_remainder=drops)
    iterator = iter(strategy.experimental_distribute_dataset(dataset))

    @tf.function
    def doubled(elements):
        return strategy.run(lambda x: (x, 2 * x), args=(next(elements),))

    rows, twice = doubled(iterator)
    assert read(strategy, rows) == rows_of(list(range(64)), 2)
    assert read(strategy, twice) == rows_of(list(range(0, 128, 2)), 2)
    if not drops:
        last = next(iterator)
        assert read(strategy, last) == rows_of(list(range(64, 70)), 1)
    with pytest.raises((StopIteration, tf.errors.OutOfRangeError)):
        next(iterator)


def test_the_element_before_the_end_is_there_and_that_after_it_is_not():
    strategy = TPUStrategy(cluster.TPUClusterResolver(POD))
    dataset = numbers(64).batch(64, drop_remainder=True)
    iterator = iter(strategy.experimental_distribute_dataset(dataset))
    found = iterator.get_next_as_optional()
    assert bool(found.has_value()) and read(strategy, found.get_value())[0] == [0, 1]
    assert not bool(iterator.get_next_as_optional().has_value())
