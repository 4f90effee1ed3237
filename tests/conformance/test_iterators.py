"""Iterators of distributed datasets: several hosts, functions, the end."""

import numpy as np
import pytest
import tensorflow as tf

from tests.conformance.modes import SUM
from tests.conformance.test_input import GLOBAL, rows
from tpudist.tfcompat import versions


def total(strategy, surface, batch):
    """Sum of all replicas' rows."""
    return strategy.reduce(SUM, surface.run(strategy, tf.reduce_sum, batch), axis=None)


def test_an_iterator_runs_inside_a_function(surface):
    strategy = surface.strategy()
    iterator = iter(
        strategy.experimental_distribute_dataset(rows(16).batch(GLOBAL, drop_remainder=True))
    )

    @tf.function
    def step():
        value = surface.run(strategy, tf.reduce_sum, next(iterator))
        return strategy.reduce(SUM, value, axis=None)

    assert [step().numpy(), step().numpy()] == [28.0, 92.0]


@pytest.mark.parametrize("make", ["dataset", "from_function"])
def test_the_element_spec_is_an_input_signature(v2_2, make):
    strategy = v2_2.strategy()
    if make == "dataset":
        dataset = strategy.experimental_distribute_dataset(
            rows(16).batch(GLOBAL, drop_remainder=True)
        )
        elements = iter(dataset)
        spec = dataset.element_spec
    else:
        elements = iter(
            strategy.experimental_distribute_datasets_from_function(
                lambda context: rows(16).batch(2, drop_remainder=True)
            )
        )
        spec = elements.element_spec
    traces = []

    @tf.function(input_signature=[spec])
    def step(batch):
        traces.append(batch)
        return total(strategy, v2_2, batch)

    assert [step(next(elements)).numpy() for _ in range(2)] == [28.0, 92.0]
    assert len(traces) == 1


def test_every_host_makes_its_pipeline(surface, mode):
    """Four hosts of eight cores: global batch 64, two a replica."""
    strategy = surface.strategy("virtual:v3-32")
    contexts = []

    def dataset_fn(context):
        contexts.append(context)
        made = rows(64).shard(context.num_input_pipelines, context.input_pipeline_id)
        return made.batch(context.get_per_replica_batch_size(64), drop_remainder=True)

    dataset = strategy.experimental_distribute_datasets_from_function(dataset_fn)
    (batch,) = mode.batches(strategy, dataset, 1)
    assert [c.input_pipeline_id for c in contexts] == [0, 1, 2, 3]
    assert {c.num_input_pipelines for c in contexts} == {4}
    assert {c.num_replicas_in_sync for c in contexts} == {32}
    assert {c.get_per_replica_batch_size(64) for c in contexts} == {2}
    for host in range(4):
        part = np.concatenate(batch[host * 8 : host * 8 + 8])
        np.testing.assert_array_equal(part, host + 4.0 * np.arange(16))


def test_hosts_share_a_global_batch(surface, mode):
    """Each host has its shard of the batches, no example twice."""
    strategy = surface.strategy("virtual:v3-32")
    dataset = strategy.experimental_distribute_dataset(rows(256).batch(128, drop_remainder=True))
    found = np.concatenate([np.concatenate(batch) for batch in mode.batches(strategy, dataset, 2)])
    np.testing.assert_array_equal(np.sort(found), np.arange(256.0))


def test_the_data_of_many_replicas_is_all_there(surface, mode):
    """Closing the Session ends the test, and not after minutes."""
    strategy = surface.strategy("virtual:v3-32")
    dataset = strategy.experimental_distribute_dataset(rows(1280).batch(128))
    found = np.concatenate([np.concatenate(batch) for batch in mode.batches(strategy, dataset, 10)])
    np.testing.assert_array_equal(np.sort(found), np.arange(1280.0))
    mode.close()


@pytest.mark.skipif(
    not versions.ITERATORS_ARE_ARGUMENTS, reason="TensorFlow's own iterators until 2.1"
)
@pytest.mark.parametrize(("make", "expected"), [("dataset", 1), ("from_function", 4)])
def test_a_pipeline_has_one_iterator(surface, mode, make, expected):
    """Each of the four hosts has a pipeline of its own only if a function makes it."""
    strategy = surface.strategy("virtual:v3-32")
    dataset = (
        strategy.experimental_distribute_dataset(rows(64).batch(32))
        if make == "dataset"
        else strategy.experimental_distribute_datasets_from_function(
            lambda context: rows(64).batch(2)
        )
    )
    if mode.eager:
        made = [
            each
            for each in tf.nest.flatten(iter(dataset), expand_composites=True)
            if each.dtype == tf.resource
        ]
    else:
        tf.compat.v1.data.make_initializable_iterator(dataset).get_next()
        made = [
            op
            for op in tf.compat.v1.get_default_graph().get_operations()
            if op.type.startswith(("IteratorV2", "MultiDeviceIterator"))
        ]
    shared = make == "from_function" or versions.LOOPS_ASK_THE_ITERATOR
    assert len(made) == (expected if shared else 4)


def test_some_replicas_have_no_rows(surface, mode):
    """Two rows for four replicas, after a whole batch."""
    strategy = surface.strategy()
    dataset = strategy.experimental_distribute_dataset(rows(10).batch(GLOBAL))
    _, last = mode.batches(strategy, dataset, 2)
    assert len(last) == 4 and min(len(part) for part in last) == 0
    assert list(np.concatenate(last)) == [8.0, 9.0]


def test_from_a_function_some_replicas_have_no_rows(surface):
    """Five rows in batches of two. (In a graph the data ends there.)"""
    strategy = surface.strategy()
    dataset = strategy.experimental_distribute_datasets_from_function(
        lambda context: rows(5).batch(2)
    )
    (batch,) = dataset
    assert [list(part.numpy()) for part in strategy.experimental_local_results(batch)] == [
        [0, 1],
        [2, 3],
        [4],
        [],
    ]


@pytest.mark.skipif(
    not versions.BY_DEVICE or not versions.HAS_DATASETS_FROM_FUNCTION,
    reason="TensorFlow's can since 2.2, tpudist's own before 1.15 can too",
)
def test_hosts_that_cannot_tell_the_end_are_refused(surface):
    dataset = surface.strategy("virtual:v3-32").experimental_distribute_datasets_from_function(
        lambda context: rows(64).batch(2)
    )
    with pytest.raises(ValueError, match="Instead: .*drop_remainder=True"):
        iter(dataset)


def test_the_end_of_the_data(surface, mode):
    strategy = surface.strategy()
    dataset = strategy.experimental_distribute_dataset(rows(16).batch(GLOBAL))
    if mode.eager:
        assert len(list(dataset)) == 2
        assert len(list(dataset)) == 2
    else:
        with pytest.raises(tf.errors.OutOfRangeError):
            mode.batches(strategy, dataset, 3)


def test_a_loop_over_the_elements_of_a_graph_is_refused(surface):
    with tf.Graph().as_default():
        dataset = surface.strategy().experimental_distribute_dataset(rows(16).batch(GLOBAL))
        with pytest.raises(RuntimeError, match="Instead: .*get_next"):
            iter(dataset)


@pytest.mark.parametrize("count", [16, 14])
def test_a_loop_inside_a_function(surface, count):
    strategy = surface.strategy()
    dataset = strategy.experimental_distribute_dataset(rows(count).batch(GLOBAL))

    @tf.function
    def train():
        done = 0.0
        for batch in dataset:
            done += total(strategy, surface, batch)
        return done

    assert train().numpy() == sum(range(count))
    assert train().numpy() == sum(range(count))


@pytest.mark.skipif(not versions.HAS_RUN, reason="iterators became arguments of functions with 2.2")
def test_an_iterator_is_an_argument_of_a_function(v2_2):
    strategy = v2_2.strategy()
    traces = []

    @tf.function
    def step(iterator):
        traces.append(iterator)
        return total(strategy, v2_2, next(iterator))

    for count in (16, 14, 14):
        iterator = iter(strategy.experimental_distribute_dataset(rows(count).batch(GLOBAL)))
        assert step(iterator).numpy() == 28.0
        assert step(iterator).numpy() == sum(range(8, count))
    assert len(traces) == 1


@pytest.mark.skipif(not versions.HAS_INPUT_OPTIONS, reason="get_next_as_optional came with 2.3")
def test_optional_elements(v2_2):
    strategy = v2_2.strategy()
    iterator = iter(strategy.experimental_distribute_dataset(rows(14).batch(GLOBAL)))

    @tf.function
    def step(iterator):
        batch = iterator.get_next_as_optional()
        if batch.has_value():
            return total(strategy, v2_2, batch.get_value())
        return -1.0

    assert [step(iterator).numpy() for _ in range(3)] == [28.0, 63.0, -1.0]
