"""On a real TPU the same calls build TensorFlow's own TPU program.

Built on a described system, in a graph: no machine of ours has a TPU.
"""

import pytest
import tensorflow as tf

from tests.contrib.harness import enter, tf1
from tests.native import described
from tests.native.test_native_graph import kinds
from tpudist.contrib.distribute import TPUStrategy, VariableAggregation, get_tower_context

SUM, MEAN = VariableAggregation.SUM, VariableAggregation.MEAN
FIRST, NONE = VariableAggregation.ONLY_FIRST_TOWER, VariableAggregation.NONE


@pytest.fixture
def strategy(monkeypatch):
    """A native strategy of 8 cores on 2 hosts, in a graph."""
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    resolver = described.DescribedResolver(cores=8, hosts=2)
    described.answer_for(monkeypatch, resolver)
    with enter("graph"):
        yield TPUStrategy(resolver, steps_per_run=1)


def iterator_of(strategy):
    return strategy.distribute_dataset(
        lambda: tf.data.Dataset.range(100).map(lambda x: (tf.cast(x, tf.float32), x)).repeat()
    ).make_initializable_iterator()


def test_layout(strategy):
    assert (strategy.num_towers, strategy.num_hosts) == (8, 2)
    assert strategy.num_towers_per_host == 4
    assert len(strategy.worker_devices) == 8
    assert isinstance(strategy.worker_devices, list)
    assert isinstance(strategy.non_slot_devices([]), list)
    assert [strategy.get_host_cpu_device(i) for i in range(2)] == [
        "/job:worker/replica:0/task:%d/device:CPU:0" % i for i in range(2)
    ]
    assert strategy.between_graph in (True, False)
    assert strategy.should_checkpoint and strategy.should_save_summary


def test_towers_run_in_one_program(strategy):
    with strategy.scope():
        result = strategy.call_for_each_tower(
            lambda x: x * 2.0, tf.constant(1.0), run_concurrently=True
        )
        assert len(strategy.unwrap(result)) == 8
    assert kinds(tf1.get_default_graph())["TPUReplicateMetadata"] == 1


def test_initialize_and_finalize(strategy):
    (start,), (stop,) = strategy.initialize(), strategy.finalize()
    assert isinstance(start, tf.Tensor) and isinstance(stop, tf.Operation)
    found = kinds(tf1.get_default_graph())
    assert found["ConfigureDistributedTPU"] == 1
    assert found["ShutdownDistributedTPU"] == 1


@pytest.mark.parametrize("iterations", [1, 10])
def test_steps_are_one_loop(strategy, iterations):
    iterator = iterator_of(strategy)
    with strategy.scope():

        def step(context, x, y):
            def tower(x, y):
                context.set_last_step_output("mean", x, MEAN)
                context.set_last_step_output("list", x)
                context.set_last_step_output("first", x, FIRST)
                context.set_non_tensor_output("note", "text")
                return x

            assert get_tower_context() is None
            strategy.call_for_each_tower(tower, x, y)

        zeros = {name: tf.constant(0.0) for name in ("first", "list", "mean")}
        context = strategy.run_steps_on_dataset(
            step, iterator, iterations, initial_loop_values=zeros
        )
    assert isinstance(context.run_op, tf.Operation)
    outputs = context.last_step_outputs
    assert isinstance(outputs["mean"], tf.Tensor)
    assert isinstance(outputs["first"], tf.Tensor)
    assert len(outputs["list"]) == 8
    assert "text" in str(context.non_tensor_outputs["note"])
    assert strategy.steps_per_run == 1
    found = kinds(tf1.get_default_graph())
    assert found["TPUReplicateMetadata"] == 1
    assert found["CrossReplicaSum"] >= 1
    loops = found["While"] + found["StatelessWhile"] + found["Enter"]
    assert loops >= 1 or iterations == 1  # One step needs no loop; 1.13 makes one.
    assert found["IteratorGetNext"] == 8


def test_training_step(strategy):
    iterator = iterator_of(strategy)
    with strategy.scope():
        w = tf1.get_variable("w", [], initializer=tf1.ones_initializer())
        optimizer = tf1.train.GradientDescentOptimizer(0.1)

        def step(context, x, y):
            done = strategy.call_for_each_tower(
                lambda x, y: optimizer.minimize(w * x, var_list=[w]), x, y
            )
            return strategy.group(done)

        context = strategy.run_steps_on_dataset(step, iterator, 5)
    assert context.last_step_outputs == {}
    found = kinds(tf1.get_default_graph())
    assert found["TPUReplicateMetadata"] == 1
    assert found["CrossReplicaSum"] == 1
