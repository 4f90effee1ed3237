"""tf.contrib.tpu on the virtual TPU."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contrib.harness import close, enter, strategy_of, tf1
from tpudist.contrib import tpu
from tpudist.contrib.cluster_resolver import TPUClusterResolver
from tpudist.contrib.distribute import get_tower_context
from tpudist.dropin import finder
from tpudist.errors import ArgumentError, ArgumentTypeError, ContextError
from tpudist.tfcompat.tpu import Topology


def test_initialize_after_a_virtual_tpu_was_found(graph, monkeypatch):
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    TPUClusterResolver("virtual:4")
    topology = Topology(serialized=graph.run(tpu.initialize_system()))
    assert topology.num_tpus_per_task == 4
    assert graph.run(tpu.rewrite(lambda x: x + 1.0, [1.0])) == [2.0]


def test_initialize_and_shutdown(graph, meant):
    serialized = graph.run(tpu.initialize_system())
    topology = Topology(serialized=serialized)
    assert topology.num_tasks == 1 and topology.num_tpus_per_task == 8
    graph.run(tpu.shutdown_system())


def test_initialize_in_the_scope_of_a_strategy(graph, monkeypatch):
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    with strategy_of("virtual:v3-32").scope():
        topology = Topology(serialized=graph.run(tpu.initialize_system()))
    assert topology.num_tasks == 4


def test_native_operations_of_a_real_tpu(graph, real):
    tpu.initialize_system()
    tpu.shutdown_system()
    tpu.cross_replica_sum(tf.constant(1.0))
    kinds = [op.type for op in tf1.get_default_graph().get_operations()]
    assert "ConfigureDistributedTPU" in kinds
    assert "ShutdownDistributedTPU" in kinds
    assert "CrossReplicaSum" in kinds


def test_replicate_natively(graph, real):
    outputs = tpu.replicate(
        lambda x: tpu.cross_replica_sum(x), [[tf.constant(1.0)], [tf.constant(2.0)]]
    )
    tpu.rewrite(lambda x: x + 1.0, [tf.constant(1.0)])
    assert len(outputs) == 2
    kinds = [op.type for op in tf1.get_default_graph().get_operations()]
    assert kinds.count("TPUReplicateMetadata") == 2


def test_cross_replica_sum(mode):
    distribution = strategy_of(4)
    with distribution.scope():
        total, pairs = distribution.call_for_each_tower(
            lambda i: (
                tpu.cross_replica_sum(tf.cast(i, tf.float32)),
                tpu.cross_replica_sum(tf.cast(i, tf.float32), [[0, 2], [1, 3]]),
            ),
            distribution.worker_device_index,
        )
        assert mode.run(distribution.unwrap(total)) == [6.0] * 4
        assert mode.run(distribution.unwrap(pairs)) == [2.0, 4.0, 2.0, 4.0]


@pytest.mark.parametrize("package", ["contrib.tpu.python.tpu", "python.tpu"])
def test_a_programs_own_mean_is_over_all_cores(mode, package):
    """As batch normalization and optimizers of TPU trainers ask how many cores there are."""
    tpu_function = finder.find_module("contrib", package + ".tpu_function")

    def tower(i):
        shards = tpu_function.get_tpu_context().number_of_shards or 1
        share = tf.cast(i, tf.float32) if shards == 1 else tpu.cross_replica_sum(i) / shards
        return tf.cast(share, tf.float32)

    distribution = strategy_of(4)
    with distribution.scope():
        found = distribution.call_for_each_tower(tower, distribution.worker_device_index)
        assert mode.run(distribution.unwrap(found)) == [1.5] * 4
    assert tpu_function.get_tpu_context().number_of_shards is None


@pytest.mark.parametrize(
    ("groups", "expected"), [(None, [6.0 * 4] * 4), ([[0, 2], [1, 3]], [2.0 * 2, 4.0 * 2] * 2)]
)
def test_gradient_of_cross_replica_sum(graph, groups, expected):
    distribution = strategy_of(4)

    def tower(i):
        x = tf.cast(i, tf.float32)
        total = tpu.cross_replica_sum(x, groups)
        return tf.gradients(0.5 * total * total, x)[0]

    with distribution.scope():
        found = distribution.call_for_each_tower(tower, distribution.worker_device_index)
        assert graph.run(distribution.unwrap(found)) == expected


def test_cross_replica_sum_outside_of_a_tower(graph, meant):
    with pytest.raises(ContextError, match="outside of a replica.*Instead:"):
        tpu.cross_replica_sum(tf.constant(1.0))


@pytest.mark.parametrize("groups", [[[0, 1]], [[0, 1], [1, 2, 3]], [[0, 9]]])
def test_groups_that_are_no_partition(graph, groups):
    distribution = strategy_of(4)
    with distribution.scope(), pytest.raises(ArgumentError, match="group_assignment"):
        distribution.call_for_each_tower(lambda: tpu.cross_replica_sum(tf.constant(1.0), groups))


def test_replicate(graph, meant):
    def computation(x, y):
        return tpu.cross_replica_sum(x), x * y

    inputs = [[tf.constant(float(i)), tf.constant(10.0)] for i in range(4)]
    outputs = tpu.replicate(computation, inputs)
    assert graph.run(outputs) == [[6.0, 0.0], [6.0, 10.0], [6.0, 20.0], [6.0, 30.0]]


def test_replicate_in_eager_mode(eager, meant):
    outputs = tpu.replicate(lambda x: x + 1.0, [[tf.constant(1.0)], [tf.constant(2.0)]])
    assert eager.run(outputs) == [[2.0], [3.0]]


def test_replicate_without_inputs_or_outputs(graph, meant):
    v = tf1.get_variable("v", [], initializer=tf1.zeros_initializer(), use_resource=True)

    def computation():
        v.assign_add(1.0)  # runs, as everything in a TPU computation

    ops = tpu.replicate(computation)
    assert len(ops) == 1 and isinstance(ops[0], tf.Operation)
    graph.run(ops)
    assert graph.run(v.read_value()) == 1.0


def test_replicate_returns_nests(graph, meant):
    outputs = tpu.replicate(
        lambda x: {"a": x, "b": [x + 1.0]}, [[tf.constant(1.0)], [tf.constant(5.0)]]
    )
    assert graph.run(outputs) == [{"a": 1.0, "b": [2.0]}, {"a": 5.0, "b": [6.0]}]


def test_rewrite(graph, meant):
    assert graph.run(tpu.rewrite(lambda x, y: x - y, [5.0, 3.0])) == [2.0]
    assert isinstance(tpu.rewrite(lambda: None), tf.Operation)


def test_a_training_op_among_the_outputs_is_run_and_is_no_value(graph, meant):
    def computation(x):
        weight = tf1.get_variable("weight", [], initializer=tf1.ones_initializer())
        loss = weight * x
        optimizer = tpu.CrossShardOptimizer(tf1.train.GradientDescentOptimizer(0.5))
        step = tf1.train.get_or_create_global_step()
        training = optimizer.minimize(loss, global_step=step)
        assert isinstance(training, tf.Operation)
        return loss, training

    (loss,) = tpu.rewrite(computation, [tf.constant(1.0)])
    assert [graph.run(loss) for _ in range(3)] == [1.0, 0.5, 0.0]
    assert graph.run(tf1.train.get_global_step()) == 3


@pytest.mark.parametrize(
    ("kwargs", "seen"),
    [
        ({"inputs": [[1.0], [1.0, 2.0]]}, "1, 2"),
        ({"inputs": [[1.0]], "infeed_queue": object()}, "infeed"),
    ],
)
def test_bad_computations(graph, meant, kwargs, seen):
    with pytest.raises((ArgumentError, ArgumentTypeError), match=seen):
        tpu.replicate(lambda *args: args[0], **kwargs)


def test_replicate_in_the_scope_of_a_strategy(graph):
    distribution = strategy_of(2)
    with distribution.scope():
        v = tf1.get_variable(
            "v", [], initializer=tf1.ones_initializer(), aggregation=tf1.VariableAggregation.SUM
        )
        outputs = tpu.replicate(lambda x: v.assign_add(x), [[tf.constant(1.0)], [tf.constant(2.0)]])
        assert graph.run(outputs) == [[4.0], [4.0]]
        with pytest.raises(ContextError, match="3 replicas.*of 2"):
            tpu.replicate(lambda x: x, [[1.0]] * 3)
        with pytest.raises(ContextError, match="a replica"):
            distribution.call_for_each_tower(lambda: tpu.replicate(lambda: None, [[], []]))


INPUTS = np.random.RandomState(0).rand(8, 3).astype(np.float32)


def one_device(reduction, steps=3):
    with enter("graph") as alone:
        w = tf1.get_variable("w", [3], initializer=tf1.ones_initializer())
        losses = [
            tf.reduce_mean(tf.square(tf.tensordot(part, w, 1) - 1.0))
            for part in np.split(INPUTS, 4)
        ]
        loss = tf.add_n(losses) / (4.0 if reduction == "weighted_mean" else 1.0)
        done = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
        for _ in range(steps):
            alone.run(done)
        return alone.run(w)


@pytest.mark.parametrize("reduction", ["weighted_mean", "weighted_sum"])
def test_cross_shard_optimizer_in_replicate(graph, meant, reduction):
    def computation(x):
        w = tf1.get_variable("w", [3], initializer=tf1.ones_initializer())
        loss = tf.reduce_mean(tf.square(tf.tensordot(x, w, 1) - 1.0))
        optimizer = tpu.CrossShardOptimizer(
            tf1.train.GradientDescentOptimizer(0.1), reduction=reduction
        )
        return optimizer.minimize(loss)

    ops = tpu.replicate(computation, [[part] for part in np.split(INPUTS, 4)])
    for _ in range(3):
        graph.run(ops)
    (w,) = tf1.global_variables()
    close(graph.run(w.read_value()), one_device(reduction))


@pytest.mark.parametrize("reduction", ["weighted_mean", "weighted_sum"])
def test_cross_shard_optimizer_in_towers(mode, reduction):
    distribution = strategy_of(4)
    with distribution.scope():
        w = tf1.get_variable("w", [3], initializer=tf1.ones_initializer())
        optimizer = tpu.CrossShardOptimizer(tf1.train.GradientDescentOptimizer(0.1), reduction)
        iterator = distribution.distribute_dataset(
            lambda: tf.data.Dataset.from_tensor_slices(INPUTS).batch(2).repeat()
        ).make_one_shot_iterator()

        def tower(x):
            def loss():
                return tf.reduce_mean(tf.square(tf.tensordot(x, w, 1) - 1.0))

            return optimizer.minimize(loss if mode.eager else loss(), var_list=[w])

        context = distribution.run_steps_on_dataset(
            lambda context, x: distribution.group(distribution.call_for_each_tower(tower, x)),
            iterator,
            3,
        )
        if not mode.eager:
            mode.run(context.run_op)
        close(mode.run(distribution.read_var(w)), one_device(reduction))
        assert len(optimizer.variables()) == 0


def test_cross_shard_optimizer_refuses(graph):
    with pytest.raises(ValueError, match="reduction|losses"):
        tpu.CrossShardOptimizer(tf1.train.GradientDescentOptimizer(1.0), "median")
    distribution = strategy_of(4)
    with distribution.scope():
        v = tf1.get_variable("v", [])
        optimizer = tpu.CrossShardOptimizer(
            tf1.train.GradientDescentOptimizer(1.0), group_assignment=[[0, 1], [2, 3]]
        )
        with pytest.raises(ArgumentError, match="group_assignment"):
            distribution.call_for_each_tower(lambda: optimizer.minimize(1.0 * v))


def test_bfloat16_scope(graph):
    with tpu.bfloat16_scope():
        v = tf1.get_variable("v", [2], dtype=tf.bfloat16)
        w = tf1.get_variable("w", [2], dtype=tf.float32)
    assert v.dtype == tf.bfloat16 and w.dtype.base_dtype == tf.float32
    assert {each.dtype.base_dtype for each in tf1.global_variables()} == {tf.float32}


def test_bfloat16_scope_in_a_tower(graph):
    distribution = strategy_of(2)

    def tower():
        with tpu.bfloat16_scope():
            v = tf1.get_variable("v", [2], dtype=tf.bfloat16, initializer=tf1.ones_initializer())
        assert get_tower_context() is not None
        return tf.cast(v, tf.float32)

    with distribution.scope():
        found = distribution.unwrap(distribution.call_for_each_tower(tower))
        assert [each.tolist() for each in graph.run(found)] == [[1.0, 1.0]] * 2
