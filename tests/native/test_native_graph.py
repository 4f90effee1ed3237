"""The native backend builds TensorFlow's own TPU program.

No TPU is needed to build the graph; its TPUReplicate structure is what would
be compiled.
"""

import collections

import pytest
import tensorflow as tf

from tests.native import described
from tpudist.tfcompat import versions
from tpudist.v2_0.strategy import TPUStrategy as TPUStrategy20
from tpudist.v2_2.strategy import TPUStrategy as TPUStrategy22

SUM = tf.distribute.ReduceOp.SUM


def build(monkeypatch, strategy_class, cores=8, hosts=1):
    resolver = described.DescribedResolver(cores, hosts)
    described.answer_for(monkeypatch, resolver)
    return strategy_class(resolver)


def run(strategy, fn, args=()):
    method = getattr(type(strategy), "experimental_run_v2", None)
    if type(strategy) is TPUStrategy22:
        method = TPUStrategy22.run
    return method(strategy, fn, args=args)


def nodes(graph):
    """The nodes of the graph and of its functions."""
    graph_def = graph.as_graph_def()
    return list(graph_def.node) + [
        node for function in graph_def.library.function for node in function.node_def
    ]


def kinds(graph):
    """How many ops of each type, also inside function bodies."""
    return collections.Counter(node.op for node in nodes(graph))


@pytest.fixture(params=[TPUStrategy20, TPUStrategy22], ids=["v2_0", "v2_2"])
def strategy_class(request):
    return request.param


def test_run_builds_one_tpu_replicate(monkeypatch, strategy_class):
    with tf.Graph().as_default() as graph:
        strategy = build(monkeypatch, strategy_class)

        def step(x):
            context = tf.distribute.get_replica_context()
            return context.all_reduce(SUM, x * 2.0)

        run(strategy, step, args=(tf.constant(1.0),))
        found = kinds(graph)
        metadata = [node for node in nodes(graph) if node.op == "TPUReplicateMetadata"]
    assert found["CrossReplicaSum"] == 1
    assert [node.attr["num_replicas"].i for node in metadata] == [8]


@pytest.mark.parametrize(("cores", "hosts"), [(8, 1), (32, 4)])
def test_replicas_and_hosts_come_from_the_system(monkeypatch, strategy_class, cores, hosts):
    with tf.Graph().as_default():
        strategy = build(monkeypatch, strategy_class, cores, hosts)
        assert strategy.num_replicas_in_sync == cores
        assert strategy.extended.num_hosts == hosts


def test_strategy_is_the_native_class(monkeypatch, strategy_class):
    with tf.Graph().as_default():
        strategy = build(monkeypatch, strategy_class)
    assert type(strategy.extended).__name__ == "TPUExtended"
    if versions.TF2:
        assert isinstance(strategy, tf.distribute.experimental.TPUStrategy)


def test_training_step_sums_gradients_across_cores(monkeypatch, strategy_class):
    with tf.Graph().as_default() as graph:
        strategy = build(monkeypatch, strategy_class)
        with strategy.scope():
            weight = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)

        def step(x):
            with tf.GradientTape() as tape:
                loss = weight * x
            gradient = tape.gradient(loss, weight)
            context = tf.distribute.get_replica_context()
            weight.assign_sub(0.1 * context.all_reduce(SUM, gradient))
            return loss

        run(strategy, step, args=(tf.constant(2.0),))
        found = kinds(graph)
    assert found["CrossReplicaSum"] >= 1
    assert found["TPUReplicatedInput"] >= 1
    assert found["AssignSubVariableOp"] >= 1
