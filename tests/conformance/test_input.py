"""Distributed datasets, datasets from functions, values from functions."""

import numpy as np
import pytest
import tensorflow as tf

from tests.conformance.modes import MEAN, SUM, covers

GLOBAL = 8


def rows(count):
    """A dataset of the numbers 0., 1., ..."""
    return tf.data.Dataset.range(count).map(lambda x: tf.cast(x, tf.float32))


@covers("experimental_distribute_dataset")
def test_a_global_batch_is_split(mode, strategy):
    dataset = strategy.experimental_distribute_dataset(rows(16).batch(GLOBAL, drop_remainder=True))
    first, second = mode.batches(strategy, dataset, 2)
    assert [list(part) for part in first] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert [list(part) for part in second] == [[8, 9], [10, 11], [12, 13], [14, 15]]


def test_no_example_of_an_uneven_last_batch_is_lost(mode, strategy):
    dataset = strategy.experimental_distribute_dataset(rows(14).batch(GLOBAL))
    _, last = mode.batches(strategy, dataset, 2)
    assert len(last) == 4
    np.testing.assert_array_equal(np.concatenate(last), np.arange(8.0, 14.0))


@pytest.mark.parametrize(
    ("operation", "expected"),
    [(SUM, 8.0 + 9 + 10 + 11 + 12 + 13), (MEAN, 10.5)],
    ids=["SUM", "MEAN"],
)
def test_an_uneven_last_batch_reduces_to_its_true_mean(surface, operation, expected):
    strategy = surface.strategy()

    @tf.function
    def step(batch):
        value = surface.run(strategy, lambda x: x + 0.0, batch)
        return strategy.reduce(operation, value, axis=0)

    dataset = strategy.experimental_distribute_dataset(rows(14).batch(GLOBAL))
    assert [step(batch).numpy() for batch in dataset][-1] == expected


@covers("experimental_distribute_datasets_from_function")
def test_each_replica_takes_one_element_of_a_function(mode, strategy):
    dataset = strategy.experimental_distribute_datasets_from_function(
        lambda context: rows(16).batch(2, drop_remainder=True)
    )
    first, second = mode.batches(strategy, dataset, 2)
    assert [list(part) for part in first] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert [list(part) for part in second] == [[8, 9], [10, 11], [12, 13], [14, 15]]


def test_a_batch_size_that_does_not_divide_is_refused(surface):
    strategy = surface.strategy()
    with pytest.raises(ValueError, match="6.*4"):
        iter(
            strategy.experimental_distribute_datasets_from_function(
                lambda context: rows(12).batch(context.get_per_replica_batch_size(6))
            )
        )


@pytest.mark.parametrize(
    "make",
    [
        lambda: rows(16),
        lambda: rows(16).map(lambda x: (tf.stack([x, x]), x)),
        lambda: rows(16).batch(GLOBAL).map(tf.reduce_sum),
    ],
    ids=["rows", "a leaf", "sums"],
)
def test_scalars_cannot_be_split(surface, mode, make):
    with pytest.raises(ValueError, match=r"Instead: dataset.batch\(n\)"):
        surface.strategy().experimental_distribute_dataset(make())


@covers("experimental_distribute_values_from_function", eras=["v2_2"])
@pytest.mark.parametrize(
    "as_what",
    [tf.constant, np.float32, np.array, float],
    ids=["tensor", "numpy scalar", "numpy array", "Python"],
)
def test_values_from_a_function(v2_2, mode, as_what):
    strategy = v2_2.strategy()
    contexts = []

    def value_fn(context):
        contexts.append(context)
        return as_what(context.replica_id_in_sync_group * 10.0)

    def build():
        value = strategy.experimental_distribute_values_from_function(value_fn)
        return v2_2.results(strategy, lambda x: tf.cast(x, tf.float32) + 1.0, value)

    assert list(mode.evaluate(build)) == [1.0, 11.0, 21.0, 31.0]
    assert [c.replica_id_in_sync_group for c in contexts] == [0, 1, 2, 3]
    assert [c.replica_id for c in contexts] == [0, 1, 2, 3]
    assert {c.num_replicas_in_sync for c in contexts} == {4}


def test_values_made_eagerly_are_read_back(v2_2):
    strategy = v2_2.strategy()
    value = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(context.replica_id)
    )
    found = strategy.experimental_local_results(value)
    assert [int(part) for part in found] == [0, 1, 2, 3]
    assert [int(part) for part in value.values] == [0, 1, 2, 3]


@covers("experimental_make_numpy_dataset")
def test_a_dataset_of_numpy_arrays(strategy, mode):
    images, labels = np.arange(12.0).reshape(6, 2), np.arange(6)
    if mode.eager:
        made = strategy.experimental_make_numpy_dataset((images, labels))
        found = [mode.fetch(row) for row in made]
    else:
        with tf.compat.v1.Session() as session, session.as_default():
            made = strategy.experimental_make_numpy_dataset((images, labels))
            iterator = tf.compat.v1.data.make_initializable_iterator(made)
            following = iterator.get_next()
            session.run(iterator.initializer)
            found = [session.run(following) for _ in range(6)]
    np.testing.assert_array_equal([row[0] for row in found], images)
    np.testing.assert_array_equal([row[1] for row in found], labels)


def test_numpy_arrays_feed_the_replicas(surface):
    strategy = surface.strategy()
    made = strategy.experimental_make_numpy_dataset(np.arange(8.0))
    dataset = strategy.experimental_distribute_dataset(made.batch(8))
    batch = next(iter(dataset))
    assert [list(part.numpy()) for part in strategy.experimental_local_results(batch)] == [
        [0, 1],
        [2, 3],
        [4, 5],
        [6, 7],
    ]


def test_values_that_are_nests(v2_2, mode):
    # Found by TensorFlow's values_test: a tuple per replica was one value, and no tuple.
    strategy = v2_2.strategy()

    def build():
        first, rest = strategy.experimental_distribute_values_from_function(
            lambda context: (1.0 * context.replica_id, {"a": tf.constant(2.0)})
        )
        assert strategy.experimental_local_results(first) == (0.0, 1.0, 2.0, 3.0)
        return v2_2.results(strategy, lambda x, y: x + y, first, rest["a"])

    assert list(mode.evaluate(build)) == [2.0, 3.0, 4.0, 5.0]
