"""Hosts that take their shares of one pipeline, against a pipeline for each of them."""

import numpy as np
import pytest
import tensorflow as tf

from tpudist.system import cluster
from tpudist.tfcompat import versions
from tpudist.v2_2.strategy import TPUStrategy

if versions.LOOPS_ASK_THE_ITERATOR:
    from tpudist.virtual.input import global_batches

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not versions.LOOPS_ASK_THE_ITERATOR, reason="until 2.7 each host has a pipeline"
    ),
]

HOSTS = 4
SLICE = "virtual:v3:4x4"  # 4 hosts of 8 cores


def numbers(count):
    return tf.data.Dataset.range(count)


DATASETS = {
    "even": lambda: numbers(160).batch(64, drop_remainder=True),
    "a last batch": lambda: numbers(70).batch(64),
    "fewer rows than replicas at the end": lambda: numbers(68).batch(32),
    "a size that does not divide": lambda: numbers(120).batch(40),
    "a static size that does not divide": lambda: numbers(120).batch(40, drop_remainder=True),
    "nothing": lambda: numbers(0).batch(64),
    "a partial batch in the middle": lambda: numbers(70).batch(64).repeat(2),
    "nest": lambda: (
        numbers(140)
        .map(lambda x: {"name": tf.strings.as_string(x), "pair": (x, tf.stack([x > 3, x < 9]))})
        .batch(64, drop_remainder=True)
    ),
    "nest with a last batch": lambda: (
        numbers(70).map(lambda x: (tf.strings.as_string(x), tf.zeros([2, 3]) + 1.0)).batch(64)
    ),
    "leaves of several sizes": lambda: (
        numbers(128).batch(64, drop_remainder=True).map(lambda x: (x, x[::2]))
    ),
    "a map after the batch": lambda: numbers(128).batch(64).map(lambda x: tf.stack([x, -x], 1)),
    "a generator": lambda: tf.data.Dataset.from_generator(
        lambda: range(70), tf.int64, tf.TensorShape([])
    ).batch(64),
}


def strategy_on(name):
    return TPUStrategy(cluster.TPUClusterResolver(name))


def read(strategy, dataset):
    """The type of the elements; for each the parts of its leaves, by replica."""
    distributed = strategy.experimental_distribute_dataset(dataset)
    if tf.executing_eagerly():
        found = [
            [strategy.experimental_local_results(leaf) for leaf in tf.nest.flatten(element)]
            for element in distributed
        ]
        return distributed.element_spec, [
            [[part.numpy() for part in parts] for parts in leaves] for leaves in found
        ]
    iterator = tf.compat.v1.data.make_initializable_iterator(distributed)
    leaves = [
        strategy.experimental_local_results(leaf) for leaf in tf.nest.flatten(iterator.get_next())
    ]
    made = []
    with tf.compat.v1.Session() as session:
        session.run(iterator.initializer)
        while True:
            try:
                made.append(session.run(leaves))
            except tf.errors.OutOfRangeError:
                return distributed.element_spec, made


def is_shared(strategy, dataset):
    return global_batches.fits(strategy.extended, dataset)


CASES = [(SLICE, kind) for kind in sorted(DATASETS)] + [
    ("virtual:8", "even"),
    ("virtual:8", "nest"),
]


@pytest.mark.parametrize("in_graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize(("slice_name", "kind"), CASES)
def test_every_replica_gets_what_its_host_would_make(slice_name, kind, in_graph, monkeypatch):
    with tf.Graph().as_default() if in_graph else tf.init_scope():
        strategy = strategy_on(slice_name)
        dataset = DATASETS[kind]()
        assert is_shared(strategy, dataset)
        spec, found = read(strategy, dataset)
        monkeypatch.setattr(global_batches, "fits", lambda *unused: False)
        expected_spec, expected = read(strategy, dataset)
    assert spec == expected_spec
    assert len(found) == len(expected)
    for element, other in zip(found, expected):
        for parts, others in zip(element, other):
            assert len(parts) == len(others)
            for part, wanted in zip(parts, others):
                np.testing.assert_array_equal(part, wanted)
                assert part.dtype == wanted.dtype and part.shape == wanted.shape


@pytest.mark.parametrize("kind", ["even", "a last batch", "nothing"])
def test_a_loop_inside_a_function(kind):
    strategy = strategy_on(SLICE)
    dataset = DATASETS[kind]()
    distributed = strategy.experimental_distribute_dataset(dataset)

    @tf.function
    def total(elements):
        found = tf.constant(0, tf.int64)
        for element in elements:
            parts = strategy.run(tf.reduce_sum, args=(element,))
            found += strategy.reduce("SUM", parts, axis=None)
        return found

    expected = sum(batch.numpy().sum() for batch in dataset)
    assert total(distributed).numpy() == expected  # as an argument
    assert tf.function(lambda: total.python_function(distributed))().numpy() == expected


def test_optional_elements():
    strategy = strategy_on(SLICE)
    dataset = strategy.experimental_distribute_dataset(numbers(64 + 6).batch(64))
    iterator = iter(dataset)

    @tf.function
    def following():
        found = iterator.get_next_as_optional()
        if found.has_value():
            parts = strategy.run(tf.reduce_sum, args=(found.get_value(),))
            return strategy.reduce("SUM", parts, axis=None)
        return tf.constant(-1, tf.int64)

    expected = [sum(range(64)), sum(range(64, 70)), -1]
    assert [following().numpy() for _ in range(3)] == expected
    endless = iter(strategy.experimental_distribute_dataset(numbers(64).batch(64).repeat()))
    assert bool(endless.get_next_as_optional().has_value())


def test_an_iterator_is_an_argument():
    strategy = strategy_on(SLICE)

    @tf.function
    def step(iterator):
        parts = strategy.run(tf.reduce_sum, args=(next(iterator),))
        return strategy.reduce("SUM", parts, axis=None)

    for count in (128, 70):
        iterator = iter(strategy.experimental_distribute_dataset(numbers(count).batch(64)))
        assert step(iterator).numpy() == sum(range(64))
        assert step(iterator).numpy() == sum(range(64, count))
        with pytest.raises(tf.errors.OutOfRangeError):
            step(iterator)


def test_next_is_refused_in_replica_context():
    strategy = strategy_on(SLICE)
    iterator = iter(strategy.experimental_distribute_dataset(numbers(64).batch(64)))

    @tf.function
    def step():
        return strategy.run(lambda: next(iterator))

    with pytest.raises(ValueError, match="outside of replica_fn"):
        step()


def test_a_shuffle_with_a_seed_gives_each_example_once():
    """Every host shuffled in its own way, and some examples came twice."""
    strategy = strategy_on(SLICE)
    dataset = numbers(128).shuffle(128, seed=1).batch(64, drop_remainder=True)
    _, found = read(strategy, dataset)
    assert sorted(np.concatenate([np.concatenate(leaves[0]) for leaves in found])) == list(
        range(128)
    )


def files(folder, per_host):
    for host in range(HOSTS):
        lines = ["%d" % (100 * host + line) for line in range(per_host)]
        (folder / ("%d.txt" % host)).write_text("\n".join(lines))
    return [str(folder / ("%d.txt" % host)) for host in range(HOSTS)]


@pytest.mark.parametrize(
    "make",
    [
        tf.data.TextLineDataset,
        lambda names: tf.data.Dataset.from_tensor_slices(names).interleave(
            tf.data.TextLineDataset, cycle_length=1
        ),
    ],
    ids=["a reader", "a reader in a function"],
)
def test_files_are_shared_out(make, tmp_path):
    strategy = strategy_on(SLICE)
    dataset = make(files(tmp_path, 64)).batch(64)
    assert not is_shared(strategy, dataset)
    _, ((parts,), *_) = read(strategy, dataset)
    rows = [
        sorted({int(row) // 100 for part in parts[8 * h : 8 * h + 8] for row in part})
        for h in range(HOSTS)
    ]
    assert rows == [[0], [1], [2], [3]]


def with_policy(dataset, name):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = getattr(
        tf.data.experimental.AutoShardPolicy, name
    )
    return dataset.with_options(options)


def test_the_user_may_share_out_batches_of_files(tmp_path):
    strategy = strategy_on(SLICE)
    dataset = with_policy(tf.data.TextLineDataset(files(tmp_path, 16)).batch(64), "DATA")
    assert is_shared(strategy, dataset)
    _, ((parts,),) = read(strategy, dataset)
    rows = [n for replica in range(8) for n in (8 * replica, 8 * replica + 1)]
    assert [int(row) for part in parts[:8] for row in part] == [
        100 * (n // 16) + n % 16 for n in rows
    ]


def test_hosts_may_have_all_data_each():
    strategy = strategy_on(SLICE)
    dataset = with_policy(numbers(64).batch(64, drop_remainder=True), "OFF")
    assert not is_shared(strategy, dataset)
    _, found = read(strategy, dataset)
    for host in range(HOSTS):
        rows = [list(part) for leaves in found for part in leaves[0][8 * host : 8 * host + 8]]
        assert np.concatenate(rows).tolist() == list(range(64))


def test_sparse_and_unknown_batches_are_made_by_each_host():
    strategy = strategy_on(SLICE)
    ragged = (
        numbers(64)
        .map(lambda x: tf.range(x % 3))
        .apply(tf.data.experimental.dense_to_ragged_batch(64))
    )
    unknown = numbers(64).batch(64).map(lambda x: tf.numpy_function(lambda y: y, [x], tf.int64))
    assert not is_shared(strategy, ragged)
    assert not is_shared(strategy, unknown)
