"""Which collectives a program has: the same on a virtual TPU and in a native TPU's graph."""

import collections as containers

import pytest

from tpudist.tools.pins import fixture

tf = pytest.importorskip("tensorflow", reason="programs are traced by TensorFlow")

from tests.native import described  # noqa: E402
from tpudist.v2_0.strategy import TPUStrategy  # noqa: E402
from tpudist.virtual.trace import collectives, function_graphs  # noqa: E402

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN


def of(strategy, replica):
    """The collectives of `replica` run by a strategy, on a value per core."""

    def step(x):
        return strategy.experimental_run_v2(replica, args=(x,))

    return collectives.traced(step, (tf.constant(2.0),))


def context():
    return tf.distribute.get_replica_context()


def none(x):
    return x * x


def one(x):
    return context().all_reduce(SUM, x * 2.0)


def several(x):
    return context().all_reduce(MEAN, [x * 2.0, x * 3.0]) + [context().all_reduce(SUM, x * x)]


def of_gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = context().all_reduce(SUM, x * x)
    return tape.gradient(loss, x)


PROGRAMS = [
    (none, {}),
    (one, {"all_reduce": 1}),
    (several, {"all_reduce": 3}),
    (of_gradient, {"all_reduce": 2}),
]
named = pytest.mark.parametrize(
    ("replica", "counts"), PROGRAMS, ids=lambda x: getattr(x, "__name__", "")
)


@named
def test_on_the_virtual_tpu(strategy, replica, counts):
    assert of(strategy, replica) == counts


@named
def test_on_the_virtual_tpu_in_a_graph(replica, counts):
    from tpudist.v2_0 import tensorflow as tf20

    with tf.Graph().as_default():
        resolver = tf20.distribute.cluster_resolver.TPUClusterResolver(tpu="virtual:8")
        strategy = tf20.distribute.experimental.TPUStrategy(resolver)
        assert of(strategy, replica) == counts


@named
def test_in_a_native_graph(monkeypatch, replica, counts):
    resolver = described.DescribedResolver(8)
    described.answer_for(monkeypatch, resolver)
    with tf.Graph().as_default():
        assert of(TPUStrategy(resolver), replica) == counts


def test_a_function_that_is_traced_already(strategy):
    step = tf.function(lambda x: strategy.experimental_run_v2(one, args=(x,)))
    step(tf.constant(1.0))
    assert collectives.traced(step, (tf.constant(1.0),)) == {"all_reduce": 1}

    def twice(x):
        return step(x), step(x)

    assert collectives.traced(twice, (tf.constant(1.0),)) == {"all_reduce": 2}


def test_a_training_step_reduces_each_gradient_once(strategy):
    with strategy.scope():
        weights = [tf.Variable(float(i), aggregation=tf.VariableAggregation.MEAN) for i in range(3)]

    def replica(x):
        with tf.GradientTape() as tape:
            loss = sum(weight * x for weight in weights)
        reduced = context().all_reduce(SUM, tape.gradient(loss, weights))
        for weight, gradient in zip(weights, reduced):
            weight.assign_sub(0.1 * gradient)
        return loss

    assert of(strategy, replica)["all_reduce"] >= 3


def test_what_the_host_reduces_is_no_collective(strategy):
    def step(x):
        losses = strategy.experimental_run_v2(none, args=(x,))
        return strategy.reduce(SUM, losses, axis=None)

    assert collectives.traced(step, (tf.constant(1.0),)) == {}


def test_pinned(strategy, tmp_path):
    def pin():
        return fixture.Pin(str(tmp_path / "x.pins.json"), "x.py::test")

    def step(replica):
        return lambda x: strategy.experimental_run_v2(replica, args=(x,))

    x = (tf.constant(1.0),)
    pin().check_collectives(step(several), x)
    pin().check_collectives(step(several), x)
    with pytest.raises(fixture.PinError, match=r"'all_reduce'.* 3 +1 "):
        pin().check_collectives(step(one), x)


@pytest.mark.parametrize(
    ("names", "counts"),
    [
        (["AllReduce/add", "AllReduce/add_1"], {"all_reduce": 1}),
        (["AllReduce/add", "AllReduce_1/add", "x/AllReduce/add"], {"all_reduce": 3}),
        (
            ["gradients/AllReduce/add_grad/Shape", "MyAllReduce/add", "AllReduce", "AllReduced/x"],
            {},
        ),
        (["AllGather/concat", "AllReduce/Identity"], {"all_reduce": 1, "all_gather": 1}),
    ],
)
def test_names_of_ops(names, counts):
    with tf.Graph().as_default() as graph:
        for name in names:
            graph.create_op("NoOp", [], [], name=name)
    assert collectives.of_graph(graph) == counts


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("allreduce_placeholder", {"all_reduce": 1}),
        ("allreduce_3_placeholder_1", {"all_reduce": 1}),
        ("replica_allgather_placeholder", {"all_gather": 1}),
        ("myallreduce_placeholder", {}),
        ("placeholder", {}),
        ("allreduce", {}),
    ],
)
def test_arguments_of_functions_count_by_their_names(name, counts):
    message = tf.compat.v1.GraphDef()
    message.node.add(name="call", op="PartitionedCall").attr["f"].func.name = "called"
    signature = message.library.function.add().signature
    signature.name = "called"
    signature.input_arg.add(name=name)
    graph = containers.namedtuple("Graph", "as_graph_def")(lambda: message)
    assert collectives.of_graph(graph) == counts


def test_ops_outside_of_a_meeting_have_no_name():
    with tf.Graph().as_default() as graph:
        with function_graphs.named("AllReduce"):
            tf.no_op("outside")
        with function_graphs.meeting(), function_graphs.named("AllReduce"):
            tf.no_op("inside")
    assert [op.name for op in graph.get_operations()] == ["outside", "AllReduce/inside"]
    assert collectives.of_graph(graph, without={"AllReduce/inside"}) == {}
