"""The wrong context: the era's wording, and what to type instead."""

import pytest
import tensorflow as tf

from tests.contrib.harness import numbers, strategy_of, tf1
from tpudist.contrib.cluster_resolver import TPUClusterResolver
from tpudist.contrib.distribute import VariableAggregation, get_tower_context
from tpudist.contrib.tpu import CrossShardOptimizer
from tpudist.errors import ArgumentTypeError, ContextError, TpudistError

SUM = VariableAggregation.SUM

#: Every method that needs cross-tower context, called on a strategy.
CROSS_TOWER = {
    "call_for_each_tower": lambda d: d.call_for_each_tower(lambda: 1),
    "call_for_each_replica": lambda d: d.call_for_each_replica(lambda: 1),
    "run_steps_on_dataset": lambda d: d.run_steps_on_dataset(
        lambda context, x: None, tf1.data.make_one_shot_iterator(numbers(9)())
    ),
    "reduce": lambda d: d.reduce(SUM, tf.constant(1.0), "/device:CPU:0"),
    "batch_reduce": lambda d: d.batch_reduce(SUM, [(tf.constant(1.0), "/device:CPU:0")]),
    "broadcast": lambda d: d.broadcast(tf.constant(1.0)),
    "update": lambda d: d.update(None, lambda v: v),
    "update_non_slot": lambda d: d.update_non_slot([], lambda: 1),
    "map": lambda d: d.map([1], lambda x: x),
    "worker_device_index": lambda d: d.worker_device_index,
}


@pytest.mark.parametrize("name", sorted(CROSS_TOWER))
def test_outside_of_the_scope(graph, name):
    distribution = strategy_of(2)
    with pytest.raises(ContextError) as caught:
        CROSS_TOWER[name](distribution)
    assert 'Need to be inside "with distribution_strategy.scope()"' in str(caught.value)
    assert "Instead: with distribution_strategy.scope()" in str(caught.value)
    assert isinstance(caught.value, RuntimeError)


@pytest.mark.parametrize("name", sorted(CROSS_TOWER))
def test_in_the_scope_of_another_strategy(graph, name):
    distribution, other = strategy_of(2), strategy_of(2)
    with other.scope():
        with pytest.raises(ContextError, match=("Mixing different DistributionStrategy objects")):
            CROSS_TOWER[name](distribution)


@pytest.mark.parametrize("name", sorted(CROSS_TOWER))
def test_in_a_tower(graph, name):
    distribution = strategy_of(2)
    with distribution.scope(), pytest.raises(ContextError) as caught:
        distribution.call_for_each_tower(lambda: CROSS_TOWER[name](distribution))
    assert (
        "Method requires being in cross-tower context, use get_tower_context().merge_call()"
    ) in str(caught.value)


def test_gradients_of_a_sharded_optimizer_in_cross_tower_context(graph):
    optimizer = CrossShardOptimizer(tf1.train.GradientDescentOptimizer(0.1))
    with strategy_of(2).scope():
        v = tf1.get_variable("v", initializer=1.0)
        with pytest.raises(ContextError, match="outside of its replica functions"):
            optimizer.minimize(tf.constant(1.0), var_list=[v])


def test_reduce_of_1_14_in_a_tower(mode):
    distribution = strategy_of(2)
    with distribution.scope(), pytest.raises(RuntimeError, match="cross-tower context"):
        distribution.call_for_each_tower(lambda: distribution.reduce(SUM, tf.constant(1.0)))


def test_colocate_vars_with_outside_of_the_scope(graph):
    distribution = strategy_of(2)
    with distribution.scope():
        v = tf1.get_variable("v", [])
    with pytest.raises(ContextError, match="Need to be inside"):
        distribution.colocate_vars_with(v)


def test_these_need_no_context(graph):
    distribution = strategy_of(2)
    with distribution.scope():
        v = tf1.get_variable("v", [], initializer=tf1.ones_initializer())
    assert len(distribution.unwrap(v)) == 2
    assert distribution.value_container(v) is v
    assert graph.run(distribution.read_var(v)) == 1.0
    assert distribution.non_slot_devices([v])
    assert distribution.group(tf.constant(1.0)) is not None


def test_context_of_another_tower(graph):
    distribution, contexts = strategy_of(2), []

    def tower():
        contexts.append(get_tower_context())
        if len(contexts) == 2:
            return contexts[0].tower_id

    with distribution.scope(), pytest.raises(ContextError, match="Mismatching TowerContext"):
        distribution.call_for_each_tower(tower)


#: {label: (a wrong use in the scope, what the error names)}
MISUSES = {
    "no tower function": (lambda d: d.call_for_each_tower(3), r"call_for_each_tower\(3\)"),
    "too many arguments": (
        lambda d: d.call_for_each_tower(lambda x: x, 1.0, 2.0),
        r"call_for_each_tower with 2 argument\(s\) for <lambda>\(x\)",
    ),
    "no step": (
        lambda d: d.run_steps_on_dataset(lambda context, x: x, None),
        "iterator=None.*make_one_shot_iterator",
    ),
    "a dataset for a function": (
        lambda d: d.distribute_dataset(tf.data.Dataset.range(8).batch(2)),
        r"it calls a function.*distribute_dataset\(lambda \*context: dataset\)",
    ),
    "no variable": (lambda d: d.update(3, lambda v: v), r"update\(3, ...\)"),
    "a tower in a tower": (
        lambda d: d.call_for_each_tower(lambda: d.call_for_each_tower(lambda: 1)),
        "in a tower",
    ),
    "the scope in a tower": (
        lambda d: d.call_for_each_tower(lambda: d.scope().__enter__()),
        "entered in a tower",
    ),
}


@pytest.mark.parametrize("label", sorted(MISUSES))
def test_a_misuse_has_an_error_of_three_parts(graph, label):
    misuse, named = MISUSES[label]
    distribution = strategy_of(4)
    with distribution.scope(), pytest.raises(TpudistError, match=named) as caught:
        misuse(distribution)
    assert len(caught.value.args) == 1 or all(caught.value.args)
    assert "Instead: " in str(caught.value)


@pytest.mark.parametrize("tpu", [8, 2.5, {"name": "a"}])
def test_a_resolver_of_no_name(tpu):
    with pytest.raises(ArgumentTypeError, match="it is the name of a TPU"):
        TPUClusterResolver(tpu)
