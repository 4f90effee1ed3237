"""What code of TensorFlow 1.13 to 1.15 calls on the same class."""

import pathlib
import re

import numpy as np
import pytest
import tensorflow as tf

from tests.contrib.harness import numbers, strategy_of, tf1
from tpudist import surfaces

SUM = tf.distribute.ReduceOp.SUM


@pytest.fixture
def strategy():
    """A strategy of four replicas."""
    return strategy_of(4)


def batches():
    return tf.data.Dataset.range(80).batch(8, drop_remainder=True)


def start(mode, iterator):
    done = iterator.initialize()
    if not mode.eager:
        mode.run(done)


def test_experimental_run(mode, strategy):
    iterator = strategy.make_dataset_iterator(batches())
    start(mode, iterator)
    found = strategy.experimental_run(lambda x: 2 * x, iterator)
    assert np.array(mode.run(strategy.experimental_local_results(found))).tolist() == [
        [0, 2],
        [4, 6],
        [8, 10],
        [12, 14],
    ]
    without = strategy.experimental_run(lambda: tf.constant(1.0))
    assert mode.run(strategy.experimental_local_results(without)) == (1.0,) * 4


def test_make_input_fn_iterator(mode, strategy):
    contexts = []

    def input_fn(context):
        contexts.append(
            (
                context.num_input_pipelines,
                context.num_replicas_in_sync,
                context.get_per_replica_batch_size(8),
            )
        )
        return tf.data.Dataset.range(80).batch(2)

    iterator = strategy.make_input_fn_iterator(input_fn)
    start(mode, iterator)
    found = strategy.experimental_run(lambda x: tf.reduce_sum(x), iterator)
    assert contexts == [(1, 4, 2)]
    assert mode.run(strategy.experimental_local_results(found)) == (1, 5, 9, 13)


def test_make_input_fn_iterator_with_a_mode(graph, strategy):
    iterator = strategy.make_input_fn_iterator(
        lambda context: tf.data.Dataset.range(80).batch(2),
        tf.distribute.InputReplicationMode.PER_WORKER,
    )
    assert iterator.initialize() is not None


def test_experimental_run_v2(mode, strategy):
    found = strategy.experimental_run_v2(
        lambda x, y: x + y, args=(tf.constant(1.0),), kwargs={"y": 2.0}
    )
    assert mode.run(strategy.experimental_local_results(found)) == (3.0,) * 4


def test_call_for_each_replica(mode, strategy):
    with strategy.scope():
        for found in (
            strategy.call_for_each_replica(lambda x: x + 1.0, tf.constant(1.0)),
            strategy.extended.call_for_each_replica(lambda x: x + 1.0, args=(tf.constant(1.0),)),
        ):
            assert mode.run(strategy.experimental_local_results(found)) == (2.0,) * 4


def test_all_reduce_in_a_replica(mode, strategy):
    def replica(i):
        return tf.distribute.get_replica_context().all_reduce(SUM, tf.cast(i, tf.float32))

    with strategy.scope():
        found = strategy.call_for_each_replica(replica, strategy.worker_device_index)
        assert mode.run(strategy.experimental_local_results(found)) == (6.0,) * 4


def test_distributed_dataset(eager, strategy):
    dataset = strategy.experimental_distribute_dataset(batches())
    for step, x in enumerate(dataset):
        found = strategy.experimental_run_v2(lambda x: tf.reduce_sum(x), args=(x,))
        assert eager.run(strategy.reduce(SUM, found, axis=None)) == sum(
            range(8 * step, 8 * step + 8)
        )
    assert step == 9


def test_distributed_dataset_in_a_graph(graph, strategy):
    dataset = tf1.data.Dataset.range(80).batch(8, drop_remainder=True)
    iterator = strategy.experimental_distribute_dataset(dataset).make_initializable_iterator()
    start(graph, iterator)
    found = strategy.experimental_run_v2(lambda x: tf.reduce_sum(x), args=(iterator.get_next(),))
    assert graph.run(strategy.reduce(SUM, found)) == 28


def test_datasets_from_function(mode, strategy):
    dataset = strategy.experimental_distribute_datasets_from_function(
        lambda context: tf1.data.Dataset.range(80).batch(context.get_per_replica_batch_size(8))
    )
    if mode.eager:
        iterator = iter(dataset)
    else:
        iterator = dataset.make_initializable_iterator()
        start(mode, iterator)
    x = iterator.get_next() if not mode.eager else next(iterator)
    found = strategy.experimental_run_v2(lambda x: tf.reduce_sum(x), args=(x,))
    assert mode.run(strategy.experimental_local_results(found)) == (1, 5, 9, 13)


def test_numpy_dataset_in_a_graph(graph, strategy):
    with tf1.Session() as session:
        dataset = strategy.experimental_make_numpy_dataset(
            np.arange(8.0).reshape(4, 2), session=session
        )
        following = tf1.data.make_initializable_iterator(dataset)
        session.run(following.initializer)
        assert session.run(following.get_next()).tolist() == [0.0, 1.0]


def test_numpy_dataset(eager, strategy):
    dataset = strategy.experimental_make_numpy_dataset(np.arange(8.0).reshape(4, 2))
    assert [row.numpy().tolist() for row in dataset] == [
        [0.0, 1.0],
        [2.0, 3.0],
        [4.0, 5.0],
        [6.0, 7.0],
    ]


def test_extended_run_steps(graph, strategy):
    with strategy.scope():
        iterator = strategy.distribute_dataset(numbers(100)).make_one_shot_iterator()

        def step(context, x):
            result = strategy.extended.call_for_each_replica(lambda x: x * 2.0, args=(x,))
            context.set_last_step_output("x", result, SUM)
            return strategy.group(result)

        context = strategy.extended.experimental_run_steps_on_iterator(
            step, iterator, 3, initial_loop_values={"x": tf.constant(0.0)}
        )
    _, found = graph.run([context.run_op, context.last_step_outputs["x"]])
    assert found == 2.0 * (8 + 9 + 10 + 11)


def test_a_loop_of_the_extended_object_runs_what_nothing_depends_on(graph, strategy):
    # Found by TensorFlow's minimize_loss_test: batch norm's moving averages stood still.
    with strategy.scope():
        iterator = strategy.distribute_dataset(numbers(100)).make_one_shot_iterator()
        count = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)

        def replica(x):
            count.assign_add(1.0)
            return x

        def step(unused_context, x):
            return strategy.group(strategy.extended.call_for_each_replica(replica, args=(x,)))

        run_op = strategy.extended.experimental_run_steps_on_iterator(step, iterator, 3).run_op
    graph.run(run_op)
    assert graph.run(count.read_value()) == 3.0


def test_in_a_function(eager, strategy):
    v = None
    with strategy.scope():
        v = tf.Variable(1.0)

    @tf.function
    def train(x):
        with strategy.scope():

            def replica(x):
                if x > 0.0:  # AutoGraph converts replica functions of 1.15
                    return v * x
                return -x

            return strategy.experimental_local_results(
                strategy.experimental_run_v2(replica, args=(x,))
            )

    assert eager.run(train(tf.constant(3.0))) == (3.0,) * 4
    assert eager.run(train(tf.constant(-3.0))) == (3.0,) * 4


def test_the_names_of_1_13_for_the_system(graph, strategy):
    assert strategy.experimental_initialize() == []
    assert strategy.experimental_finalize() == []
    assert strategy.require_static_shapes is True


def test_every_member_is_used_here():
    """Law 7: the cases of contrib's class are in this folder."""
    folder = pathlib.Path(__file__).parent
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("test_*.py")))
    text += (folder.parent / "conformance" / "test_carried.py").read_text(encoding="utf-8")
    members = set(surfaces.members("contrib")) - {"__init__"}
    assert {name for name in members if not re.search(r"\.%s\b" % name, text)} == set()
