"""The wrong context: the era's wording, and what to type instead."""

import pytest
import tensorflow as tf

from tests.contrib.harness import numbers, strategy_of, tf1
from tpudist.contrib.distribute import VariableAggregation, get_tower_context
from tpudist.errors import ContextError

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
    with distribution.scope():
        with pytest.raises(ContextError) as caught:
            distribution.call_for_each_tower(lambda: CROSS_TOWER[name](distribution))
    assert (
        "Method requires being in cross-tower context, use get_tower_context().merge_call()"
    ) in str(caught.value)


def test_reduce_of_1_14_in_a_tower(mode):
    distribution = strategy_of(2)
    with distribution.scope():
        with pytest.raises(RuntimeError, match="cross-tower context"):
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

    with distribution.scope():
        with pytest.raises(ContextError, match="Mismatching TowerContext"):
            distribution.call_for_each_tower(tower)
