"""distribute_dataset: every tower takes its own element."""

import pytest
import tensorflow as tf

from tests.contrib.harness import numbers, strategy_of
from tpudist.contrib.distribute import VariableAggregation
from tpudist.contrib.inputs import PerDeviceDataset
from tpudist.errors import ArgumentTypeError


def take(mode, distribution, iterator, steps):
    """The per-tower values of some steps."""
    if mode.eager:
        return [mode.run(distribution.unwrap(iterator.get_next())) for _ in range(steps)]
    following = distribution.unwrap(iterator.get_next())
    return [mode.run(following) for _ in range(steps)]


@pytest.mark.parametrize("kind", ["make_one_shot_iterator", "make_initializable_iterator"])
def test_towers_take_elements_in_turn(mode, kind):
    distribution = strategy_of(4)
    with distribution.scope():
        dataset = distribution.distribute_dataset(numbers(12))
        assert isinstance(dataset, PerDeviceDataset)
        iterator = getattr(dataset, kind)()
        if kind == "make_initializable_iterator" and not mode.eager:
            mode.run(iterator.initializer)
        found = take(mode, distribution, iterator, 3)
    assert found == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


def test_example_of_the_page(mode):
    distribution = strategy_of(8)

    def dataset_fn():
        return tf.data.Dataset.from_tensors([[1.0]]).repeat()

    with distribution.scope():
        distributed_dataset = distribution.distribute_dataset(dataset_fn)
        iterator = distributed_dataset.make_one_shot_iterator()
        tower_results = distribution.call_for_each_tower(lambda x: 2.0 * x, iterator.get_next())
        found = mode.run(distribution.unwrap(tower_results))
    assert [value.tolist() for value in found] == [[[2.0]]] * 8


def test_structures(mode):
    distribution = strategy_of(2)
    with distribution.scope():
        iterator = distribution.distribute_dataset(
            lambda: tf.data.Dataset.range(8).batch(2).map(lambda x: ({"a": x}, x + 1))
        ).make_one_shot_iterator()
        features, labels = iterator.get_next()
        assert set(features) == {"a"}
        found = mode.run([distribution.unwrap(features["a"]), distribution.unwrap(labels)])
    assert [[part.tolist() for part in each] for each in found] == [
        [[0, 1], [2, 3]],
        [[1, 2], [3, 4]],
    ]


def test_single_tower(mode):
    distribution = strategy_of(1)
    with distribution.scope():
        iterator = distribution.distribute_dataset(numbers(3)).make_one_shot_iterator()
        assert take(mode, distribution, iterator, 2) == [[0.0], [1.0]]


def test_the_initializer_is_one_op_that_a_finalized_graph_has(graph):
    """MonitoredTrainingSession finalizes the graph before a script asks for it."""
    iterator = strategy_of(2).distribute_dataset(numbers(4)).make_initializable_iterator()
    found = tf.compat.v1.get_default_graph().get_operations()
    assert iterator.initializer is iterator.initializer
    assert iterator.initializer in found


def test_initializer_restarts(graph):
    distribution = strategy_of(2)
    iterator = distribution.distribute_dataset(numbers(100)).make_initializable_iterator()
    following = distribution.unwrap(iterator.get_next())
    for start in (iterator.initializer, iterator.initialize()):
        graph.run(start)
        assert graph.run(following) == [0.0, 1.0]
        assert graph.run(following) == [2.0, 3.0]


def test_iteration_in_python(eager):
    distribution = strategy_of(2)
    dataset = distribution.distribute_dataset(numbers(5))
    for _ in range(2):
        found = [eager.run(distribution.unwrap(each)) for each in dataset]
        assert found == [[0.0, 1.0], [2.0, 3.0]]
    iterator = dataset.make_initializable_iterator()
    assert iterator.initializer is None and iterator.initialize() == []
    assert eager.run(distribution.unwrap(iterator.next())) == [0.0, 1.0]
    next(iterator)
    with pytest.raises(StopIteration):
        next(iterator)


def test_end_of_the_data(mode):
    distribution = strategy_of(4)
    iterator = distribution.distribute_dataset(numbers(6)).make_one_shot_iterator()
    with pytest.raises(tf.errors.OutOfRangeError):
        take(mode, distribution, iterator, 2)


def test_every_host_has_its_own_dataset(mode):
    distribution, calls = strategy_of("virtual:v3-32"), []

    def dataset_fn():
        calls.append(len(calls))
        return tf.data.Dataset.range(100 * calls[-1], 100 * calls[-1] + 50)

    with distribution.scope():
        iterator = distribution.distribute_dataset(dataset_fn).make_one_shot_iterator()
        found = take(mode, distribution, iterator, 2)
    assert calls == [0, 1, 2, 3]
    assert found[0] == [host * 100 + i for host in range(4) for i in range(8)]
    assert found[1] == [host * 100 + i for host in range(4) for i in range(8, 16)]


@pytest.mark.parametrize("result", [None, [1, 2], tf.zeros])
def test_dataset_fn_returns_no_dataset(graph, result):
    with pytest.raises(ArgumentTypeError, match="must return a tf.data.Dataset"):
        strategy_of(2).distribute_dataset(lambda: result)


def test_a_step_of_eight_towers_takes_eight_elements(mode):
    distribution = strategy_of(8)
    with distribution.scope():
        iterator = distribution.distribute_dataset(numbers(100)).make_one_shot_iterator()
        context = distribution.run_steps_on_dataset(
            lambda context, x: context.set_last_step_output("x", x, VariableAggregation.NONE),
            iterator,
            iterations=2,
        )
        assert mode.run(context.last_step_outputs["x"]) == list(range(8, 16))
