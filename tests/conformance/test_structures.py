"""Nests of values: the same structure comes back on every release."""

import pytest
import tensorflow as tf

from tests.conformance.modes import MEAN, SUM, covers, number, replica
from tests.contrib import harness
from tests.helpers import cores
from tpudist.contrib.distribute import get_tower_context
from tpudist.system import cluster
from tpudist.tfcompat import distributed, nests
from tpudist.v2_2 import later

#: {name: a nest of `x`}
STRUCTURES = {
    "tensor": lambda x: x,
    "tuple": lambda x: (x, 2.0 * x),
    "list": lambda x: [x, 2.0 * x],
    "dict": lambda x: {"a": x, "b": 2.0 * x},
    "None": lambda x: {"a": x, "b": None},
    "nested": lambda x: {"a": (x, [2.0 * x]), "b": [{"c": 3.0 * x}]},
    "empty tuple": lambda x: (),
    "empty dict": lambda x: {},
    "empty inside": lambda x: {"a": x, "b": (), "c": {}},
}
structures = pytest.mark.parametrize("name", sorted(STRUCTURES))


def parts(results):
    """`results` with a tuple of the replicas' numbers in place of each per-replica value."""
    return nests.map_structure(
        lambda leaf: (
            Parts(distributed.components(leaf)) if distributed.is_distributed(leaf) else leaf
        ),
        results,
    )


class Parts:
    """The components of a per-replica value, a leaf of a nest."""

    def __init__(self, tensors):
        self.tensors = tensors


def values(mode, structure):
    """The numbers of a nest of tensors and `Parts`."""

    def value(leaf):
        if isinstance(leaf, Parts):
            return tuple(float(mode.fetch(tensor)) for tensor in leaf.tensors)
        return leaf if leaf is None else float(mode.fetch(leaf))

    return nests.map_structure(value, structure)


def call(mode, build):
    """Calls `build`, in eager mode as a function."""
    return tf.function(build)() if mode.eager else build()


def of_replicas(name, count=4):
    """The nest, with the tuple of what each replica has in place of each number."""
    each = [STRUCTURES[name](float(i)) for i in range(count)]
    return nests.map_structure(lambda *leaves: None if leaves[0] is None else leaves, *each)


@structures
def test_replicas_return_what_they_were_given(surface, mode, strategy, name):
    def fn(nest):
        nests.map_structure(lambda mine, given: None, STRUCTURES[name](number()), nest)
        return nest

    def build():
        return surface.run(strategy, fn, surface.run(strategy, lambda: STRUCTURES[name](number())))

    found = values(mode, parts(call(mode, build)))
    assert found == of_replicas(name)


@structures
def test_reduce(surface, mode, strategy, name):
    if name == "None":
        pytest.skip("there is nothing to add")

    def build():
        results = surface.run(strategy, lambda: STRUCTURES[name](number()))
        return strategy.reduce(SUM, results, axis=None)

    assert values(mode, call(mode, build)) == STRUCTURES[name](6.0)


@covers("experimental_local_results", "unwrap")
@pytest.mark.parametrize("method", ["experimental_local_results", "unwrap"])
@structures
def test_local_results_of_a_nest(surface, mode, strategy, name, method):
    results = call(mode, lambda: surface.run(strategy, lambda: STRUCTURES[name](number())))
    found = getattr(strategy, method)(results)
    assert isinstance(found, tuple)
    if name == "tensor":
        assert values(mode, found) == (0.0, 1.0, 2.0, 3.0)
    else:
        assert values(mode, tuple(map(parts, found))) == (of_replicas(name),)


@structures
def test_local_results_of_a_nest_later_than_2_2(mode, name):
    strategy = later.TPUStrategy(cluster.TPUClusterResolver(cores.named("virtual:4")))
    results = call(mode, lambda: strategy.run(lambda: STRUCTURES[name](number())))
    found = strategy.experimental_local_results(results)
    assert values(mode, found) == tuple(STRUCTURES[name](float(i)) for i in range(4))


@structures
def test_merges_and_all_reduce(surface, mode, strategy, name):
    is_added = name not in (
        "None",
        "empty tuple",
        "empty dict",
    )  # TensorFlow adds no None, nor none

    def merge(strategy, nest, scale=None):
        return nests.map_structure(
            lambda leaf: None if leaf is None else strategy.extended.reduce_to(MEAN, leaf, leaf),
            nest,
        )

    def fn():
        nest = STRUCTURES[name](number())
        merged = replica().merge_call(merge, args=(nest,), kwargs={"scale": nest})
        return merged, replica().all_reduce(SUM, nest) if is_added else merged

    merged, added = call(mode, lambda: surface.run(strategy, fn))
    assert values(mode, parts(merged)) == every(STRUCTURES[name](1.5))
    if is_added:
        assert values(mode, parts(added)) == every(STRUCTURES[name](6.0))


def every(structure):
    """The nest, in which each of 4 replicas has its numbers."""
    return nests.map_structure(lambda leaf: None if leaf is None else (leaf,) * 4, structure)


@pytest.mark.parametrize("shape", ["tensor", "list"])
@pytest.mark.parametrize("indices", ["tensor", "list"])
def test_all_reduce_of_slices(surface, mode, strategy, indices, shape):
    """Parts of IndexedSlices that are lists are those of each replica."""
    if cores.KIND and indices == "list":
        pytest.skip("TensorFlow's cross-device ops take slices of tensors")
    as_part = {"tensor": tf.constant, "list": list}

    def fn():
        slices = tf.IndexedSlices(
            tf.reshape(number() + 1.0, [1, 1]), as_part[indices]([2]), as_part[shape]([3, 1])
        )
        return tf.reshape(tf.convert_to_tensor(replica().all_reduce(SUM, slices)), [-1])

    found = mode.evaluate(lambda: surface.results(strategy, fn))
    assert [list(each) for each in found] == [[0.0, 0.0, 10.0]] * 4


@structures
def test_arguments_of_an_update(mode, strategy, name):
    with strategy.scope():
        variable = tf.Variable(1.0)
    nest, seen = STRUCTURES[name](1.5), []

    def fn(v, nest, scale=None):
        seen.extend([nest, scale])
        return v.assign_add(1.0)

    with strategy.scope():
        strategy.extended.update(variable, fn, args=(nest,), kwargs={"scale": nest})
    assert seen and all(each == nest for each in seen)


@covers(
    "experimental_split_to_logical_devices",
    "experimental_replicate_to_logical_devices",
    "experimental_assign_to_logical_device",
    eras=["v2_2"],
)
@pytest.mark.parametrize("how", ["split", "replicate", "assign"])
@structures
def test_logical_devices(v2_2, mode, name, how):
    strategy = v2_2.strategy("virtual:4")
    annotate = {
        "split": lambda x: strategy.experimental_split_to_logical_devices(x, []),
        "replicate": strategy.experimental_replicate_to_logical_devices,
        "assign": lambda x: strategy.experimental_assign_to_logical_device(x, 0),
    }[how]
    results = call(mode, lambda: strategy.run(lambda: annotate(STRUCTURES[name](number()))))
    assert values(mode, parts(results)) == of_replicas(name)


@structures
def test_towers(name):
    with harness.enter("graph") as mode:
        distribution = harness.strategy_of(4)
        with distribution.scope():
            results = distribution.call_for_each_tower(lambda: STRUCTURES[name](tower_number()))
            whole = distribution.unwrap(results)
            if name != "None":
                total = distribution.reduce(tf.VariableAggregation.SUM, results)
        each = [STRUCTURES[name](float(i)) for i in range(4)]
        assert mode_values(mode, whole) == (each if nests.flatten(results) else [results])
        if name != "None":
            assert mode_values(mode, total) == STRUCTURES[name](6.0)


def tower_number():
    return tf.cast(get_tower_context().tower_id, tf.float32) + tf.constant(0.0)


def mode_values(mode, structure):
    return nests.map_structure(
        lambda leaf: None if leaf is None else float(mode.run(leaf)), structure
    )
