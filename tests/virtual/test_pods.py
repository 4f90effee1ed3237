"""Many cores: what a step needs does not grow faster than their number."""

import numpy as np
import pytest
import tensorflow as tf

from tpudist.system import cluster
from tpudist.tfcompat import distributed, versions
from tpudist.v2_2.strategy import TPUStrategy
from tpudist.virtual import reductions

pytestmark = pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="before 2.4 replicas are traced one by one"
)

#: Ops that a core may add: its argument, and what takes it apart.
OPS_A_CORE = 2


def traced(cores):
    """The nodes of a step of hand-written descent, and the variables of one weight."""
    strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % cores))
    with strategy.scope():
        weights = [tf.Variable(tf.ones([2, 2])) for _ in range(3)]
        momenta = [tf.Variable(tf.zeros([2, 2])) for _ in range(3)]

    def fn(x):
        with tf.GradientTape() as tape:
            hidden = x
            for weight in weights:
                hidden = tf.tanh(tf.matmul(hidden, weight))
            loss = tf.reduce_mean(hidden**2)
        context = tf.distribute.get_replica_context()
        totals = context.all_reduce("sum", tape.gradient(loss, weights))
        for weight, momentum, total in zip(weights, momenta, totals):
            momentum.assign(momentum * 0.9 + total)
            weight.assign_sub(0.1 * momentum)
        return loss

    batch = distributed.per_replica(strategy.extended, [tf.ones([1, 2])] * cores)
    step = tf.function(lambda x: strategy.reduce("MEAN", strategy.run(fn, (x,)), axis=None))
    graph = step.get_concrete_function(batch).graph.as_graph_def()
    nodes = len(graph.node) + sum(len(function.node_def) for function in graph.library.function)
    return nodes, len({id(part) for part in distributed.components(weights[0])})


@pytest.mark.slow
def test_a_step_grows_with_the_cores_at_most():
    (few, _), (many, stored) = traced(8), traced(264)
    assert stored == 1
    assert many - few <= OPS_A_CORE * 256, "%d nodes on 8 cores, %d on 264" % (few, many)


def test_parts_are_made_on_access():
    asked = []

    def make(replica_id):
        asked.append(replica_id)
        return replica_id * 10

    value = reductions.PerReplica(reductions.Parts(4, make))
    assert reductions.count(value) == 4 and asked == []
    assert value._values[0] == 0 and asked == [0]
    assert value.values[2] == 20 and value.values[-1] == 30
    assert distributed.components(value) == (0, 10, 20, 30) and asked == [0, 1, 2, 3]
    assert value.values[1:3] == (10, 20)
    with pytest.raises(IndexError):
        value.values[4]


def test_a_part_that_is_the_same_for_all_is_made_once():
    parts = reductions.Parts(3, lambda replica_id: object(), is_one=True)
    assert len(set(parts)) == 1


@pytest.mark.parametrize(("operation", "expected"), [("SUM", [12.0, 18.0]), ("MEAN", [3.0, 4.5])])
def test_results_of_batched_replicas_are_reduced(operation, expected):
    strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:4"))

    def fn():
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        return tf.stack([2.0, 3.0]) * tf.cast(number, tf.float32)

    found = tf.function(lambda: strategy.reduce(operation, strategy.run(fn), axis=None))()
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    "change",
    [lambda p: p[::-1], lambda p: [p[0]] * 4, lambda p: [p[0], p[1], p[3], p[2]]],
    ids=["reversed", "repeated", "swapped"],
)
def test_reordered_results_are_summed_in_their_order(change):
    strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:4"))

    def fn():
        return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)

    @tf.function
    def step():
        parts = list(strategy.experimental_local_results(strategy.run(fn)))
        other = distributed.per_replica(strategy.extended, change(parts))
        weighted = strategy.run(lambda x, y: x * 10.0 + y, (other, strategy.run(fn)))
        return strategy.reduce("SUM", other, axis=None), strategy.experimental_local_results(
            weighted
        )

    total, weighted = step()
    order = change([0.0, 1.0, 2.0, 3.0])
    assert float(total) == sum(order)
    assert [float(w) for w in weighted] == [10.0 * o + i for i, o in enumerate(order)]
