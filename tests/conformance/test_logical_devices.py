"""split, replicate and assign; the placement of replicas on a slice."""

import numpy as np
import pytest
import tensorflow as tf

from tests.conformance.modes import SUM, covers, number
from tpudist.errors import ShardingError, TopologyError
from tpudist.system import cluster, placement
from tpudist.tfcompat import versions

ANNOTATIONS = {
    "split": lambda strategy, x: strategy.experimental_split_to_logical_devices(x, [1, 2]),
    "replicate": lambda strategy, x: strategy.experimental_replicate_to_logical_devices(x),
    "assign": lambda strategy, x: strategy.experimental_assign_to_logical_device(x, 1),
}
names = pytest.mark.parametrize("name", sorted(ANNOTATIONS))


def assignment(tpu="virtual:8", shape=(1, 1, 2), replicas=4):
    """A device assignment on that slice."""
    topology = cluster.initialize_tpu_system(cluster.TPUClusterResolver(tpu))
    return placement.DeviceAssignment.build(
        topology, computation_shape=list(shape), num_replicas=replicas
    )


def two_per_replica(surface, **kwargs):
    """Four replicas of two logical devices each."""
    return surface.strategy("virtual:8", device_assignment=assignment(**kwargs))


@names
@covers(
    "experimental_split_to_logical_devices",
    "experimental_replicate_to_logical_devices",
    "experimental_assign_to_logical_device",
    eras=["v2_2"],
)
def test_an_annotation_changes_no_value(v2_2, mode, name):
    strategy = two_per_replica(v2_2)

    def build():
        x = tf.reshape(tf.range(8.0), [2, 4])
        return v2_2.results(strategy, lambda: ANNOTATIONS[name](strategy, x) + number())

    found = mode.evaluate(build)
    assert len(found) == 4
    for i, part in enumerate(found):
        np.testing.assert_array_equal(part, np.arange(8.0).reshape(2, 4) + i)


def nodes(graph):
    """The nodes of a graph and of its functions."""
    graph_def = graph.as_graph_def()
    return list(graph_def.node) + [
        node for function in graph_def.library.function for node in function.node_def
    ]


def shardings(graph):
    """How many nodes carry a sharding annotation."""
    return sum("_XlaSharding" in node.attr or node.op == "XlaSharding" for node in nodes(graph))


@names
def test_the_annotation_is_in_the_graph(v2_2, mode, name):
    strategy = two_per_replica(v2_2)

    def build(annotate=True):
        x = tf.reshape(tf.range(8.0), [2, 4])
        return v2_2.results(
            strategy, lambda: (ANNOTATIONS[name](strategy, x) if annotate else x) * 2.0
        )

    def count(annotate):
        if mode.eager:
            concrete = tf.function(build).get_concrete_function(annotate)
            return shardings(concrete.graph)
        with tf.Graph().as_default() as graph:
            build(annotate)
        return shardings(graph)

    assert count(False) == 0
    assert count(True) > 0


@pytest.mark.skipif(
    versions.XLA_SHARDING_CRASHES_CPU or not versions.HAS_SHARDING_OP,
    reason="before 2.12 a CPU cannot run the XlaSharding op, so that it is "
    "not put into the program, and jit_compile came with 2.5",
)
@names
def test_the_annotation_reaches_the_compiler(v2_2, name):
    strategy = two_per_replica(v2_2)

    @tf.function(jit_compile=True)
    def compiled(x):
        return v2_2.results(strategy, lambda: ANNOTATIONS[name](strategy, x) * 2.0)

    text = compiled.experimental_get_compiler_ir(tf.ones([2, 4]))(stage="hlo")
    expected = {"split": "devices=[1,2]", "replicate": "replicated", "assign": "maximal device=1"}[
        name
    ]
    assert expected in text


@pytest.mark.parametrize(
    ("shape", "parts", "why"),
    [
        ([4, 4], [2], "one entry per dimension"),
        ([4, 4], [2, 2], "product is 2"),
        ([3, 4], [2, 1], "dimension 0 is not divisible by 2"),
    ],
    ids=["rank", "product", "divisible"],
)
def test_split_refuses(v2_2, mode, shape, parts, why):
    strategy = two_per_replica(v2_2)

    def build():
        return v2_2.results(
            strategy, lambda: strategy.experimental_split_to_logical_devices(tf.ones(shape), parts)
        )

    with pytest.raises(ShardingError, match=why) as caught:
        mode.evaluate(build)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("device", [-1, 2, 1.0, True, None])
def test_assign_refuses(v2_2, mode, device):
    strategy = two_per_replica(v2_2)

    def build():
        return v2_2.results(
            strategy, lambda: strategy.experimental_assign_to_logical_device(tf.ones([2]), device)
        )

    with pytest.raises(ValueError, match="logical_device_id"):
        mode.evaluate(build)


@pytest.mark.parametrize("shape", [(1, 1, 2), (1, 1, 1, 2)], ids=["x y core", "x y z core"])
def test_computation_shapes_of_every_release(surface, mode, shape):
    made = assignment(shape=shape)
    assert made.num_replicas == 4 and made.num_cores_per_replica == 2
    strategy = surface.strategy("virtual:8", device_assignment=made)
    assert strategy.num_replicas_in_sync == 4
    found = mode.evaluate(lambda: surface.results(strategy, number))
    assert list(found) == [0.0, 1.0, 2.0, 3.0]


@covers("num_replicas_in_sync")
def test_two_strategies_side_by_side(surface, mode):
    """One of two replicas and one of four, on one topology."""
    few = surface.strategy("virtual:8", device_assignment=assignment(shape=(1, 1, 1), replicas=2))
    more = two_per_replica(surface)
    assert (few.num_replicas_in_sync, more.num_replicas_in_sync) == (2, 4)
    with few.scope():
        first = tf.Variable(1.0, name="first")
    with more.scope():
        second = tf.Variable(2.0, name="second")

    def build():
        def total(strategy, variable):
            return strategy.reduce(
                SUM, surface.run(strategy, lambda: variable * 1.0 + number()), axis=None
            )

        return total(few, first), total(more, second), total(few, first)

    assert list(mode.evaluate(build)) == [3.0, 14.0, 3.0]


@pytest.mark.parametrize("shape", [(1, 1, 3), (3, 1, 1), (0, 1, 1), (1, 1, 1, 3)])
def test_a_computation_shape_that_does_not_divide(shape):
    with pytest.raises(TopologyError, match="computation_shape.*divide"):
        assignment(shape=shape, replicas=1)


@pytest.mark.parametrize("replicas", [0, 5, 100])
def test_replicas_that_do_not_fit(replicas):
    with pytest.raises(TopologyError, match="room for 1 to 4"):
        assignment(replicas=replicas)


@pytest.mark.parametrize("shape", [(2,), (1, 2), (1, 1, 1, 1, 2)])
def test_a_computation_shape_of_a_wrong_rank(shape):
    with pytest.raises(TopologyError, match="axes"):
        assignment(shape=shape)


def test_an_assignment_of_a_larger_slice(surface):
    with pytest.raises(TopologyError, match="8 cores"):
        surface.strategy("virtual:8", device_assignment=assignment("virtual:v3-32", replicas=16))
