"""A mean loss on N towers trains like one device on the same global batch."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contrib.harness import close, enter, strategy_of, tf1
from tpudist.contrib.cluster_resolver import TPUClusterResolver
from tpudist.contrib.distribute import (
    TPUStrategy,
    TPUStrategyV1,
    VariableAggregation,
    get_loss_reduction,
    initialize_tpu_system,
)

INPUTS = np.random.RandomState(0).rand(16, 3).astype(np.float32)
LABELS = np.random.RandomState(1).rand(16, 1).astype(np.float32)


def loss_of(w, x, y, kind):
    predicted = tf.matmul(x, w)
    if kind == "reduce_mean":
        return tf.reduce_mean(tf.square(predicted - y))
    if kind == "losses.sum":
        return tf1.losses.mean_squared_error(y, predicted, reduction=tf1.losses.Reduction.SUM)
    return tf1.losses.mean_squared_error(y, predicted)


def one_device(optimizer, kind, steps=2):
    """The weights after training on the whole batch on one device."""
    with enter("graph") as alone:
        w = tf1.get_variable("w", [3, 1], initializer=tf1.zeros_initializer())
        done = optimizer().minimize(loss_of(w, tf.constant(INPUTS), tf.constant(LABELS), kind))
        for _ in range(steps):
            alone.run(done)
        return alone.run(w)


def on_towers(mode, distribution, optimizer, kind, steps=2):
    """The weights after training with a part of the batch on each tower."""
    per_tower = 16 // distribution.num_towers
    with distribution.scope():
        w = tf1.get_variable("w", [3, 1], initializer=tf1.zeros_initializer())
        made = optimizer()
        iterator = distribution.distribute_dataset(
            lambda: tf.data.Dataset.from_tensor_slices((INPUTS, LABELS)).batch(per_tower).repeat()
        ).make_one_shot_iterator()

        def tower(x, y):
            def loss():
                return loss_of(w, x, y, kind)

            return made.minimize(loss if mode.eager else loss(), var_list=[w])

        def step(context, x, y):
            return distribution.group(distribution.call_for_each_tower(tower, x, y))

        context = distribution.run_steps_on_dataset(step, iterator, steps)
        if not mode.eager:
            mode.run(context.run_op)
        return mode.run(distribution.read_var(w))


def descent():
    return tf1.train.GradientDescentOptimizer(0.5)


def adam():
    return tf1.train.AdamOptimizer(0.1)


@pytest.mark.parametrize("towers", [pytest.param(1, marks=pytest.mark.slow), 8])
@pytest.mark.parametrize(
    "kind", ["reduce_mean", "losses.mean", pytest.param("losses.sum", marks=pytest.mark.slow)]
)
def test_equals_one_device_on_the_global_batch(mode, towers, kind):
    found = on_towers(mode, strategy_of(towers), descent, kind)
    close(found, one_device(descent, kind), rtol=1e-4)


@pytest.mark.slow
def test_adam_equals_one_device(mode):
    close(
        on_towers(mode, strategy_of(4), adam, "losses.mean", 3),
        one_device(adam, "losses.mean", 3),
        rtol=1e-4,
    )


@pytest.mark.slow
def test_outside_of_a_loop_of_steps(graph):
    distribution = strategy_of(8)
    with distribution.scope():
        w = tf1.get_variable("w", [3, 1], initializer=tf1.zeros_initializer())
        x, y = [
            distribution.distribute_dataset(
                lambda values=values: tf.data.Dataset.from_tensor_slices(values).batch(2).repeat()
            )
            .make_one_shot_iterator()
            .get_next()
            for values in (INPUTS, LABELS)
        ]
        done = distribution.call_for_each_tower(
            lambda x, y: descent().minimize(loss_of(w, x, y, "losses.mean")), x, y
        )
        op = distribution.group(done)
        for _ in range(2):
            graph.run(op)
        close(graph.run(distribution.read_var(w)), one_device(descent, "losses.mean"), rtol=1e-4)


def test_strategy_of_1_14_leaves_the_loss_to_the_user(mode):
    newer = TPUStrategyV1(TPUClusterResolver("virtual:4"))
    found = on_towers(
        mode, newer, lambda: tf1.train.GradientDescentOptimizer(0.5 / 4), "reduce_mean"
    )
    close(found, one_device(descent, "reduce_mean"), rtol=1e-4)


#: How a program runs its replica function: (as of which release, the call).
CALLS = {
    "1.11": lambda strategy, fn: strategy.call_for_each_tower(fn),
    "1.13": lambda strategy, fn: strategy.call_for_each_replica(fn),
    "1.13 to 1.15": lambda strategy, fn: strategy.experimental_run(fn),
    "1.13 to 1.15, extended": lambda strategy, fn: strategy.extended.call_for_each_replica(fn),
    "1.14": lambda strategy, fn: strategy.experimental_run_v2(fn),
}


@pytest.mark.parametrize(
    ("release", "starts_the_tpu", "divided"),
    [
        ("1.11", False, True),
        ("1.11", True, True),
        ("1.13", False, True),
        ("1.13 to 1.15", False, True),
        ("1.13 to 1.15", True, False),
        ("1.13 to 1.15, extended", False, True),
        ("1.13 to 1.15, extended", True, False),
        ("1.14", False, False),
        ("1.14", True, False),
    ],
)
def test_a_mean_loss_is_divided_in_code_up_to_1_13(graph, release, starts_the_tpu, divided):
    resolver = TPUClusterResolver("virtual:4")
    if starts_the_tpu:  # which code of 1.14 does; before, TPUStrategy did
        initialize_tpu_system(resolver)
    strategy = TPUStrategy(resolver)
    with strategy.scope():
        w = tf1.get_variable("w", initializer=1.0)

        def replica():
            return tf1.train.GradientDescentOptimizer(0.1).minimize(w * 2.0)

        done = strategy.group(CALLS[release](strategy, replica))
        graph.run(done)
        close(graph.run(strategy.extended.read_var(w)), 1.0 - 0.2 * (1 if divided else 4))


def test_estimator_still_switches_it_on(graph):
    newer = TPUStrategyV1(TPUClusterResolver("virtual:4"))
    assert not newer._scale_loss_for_estimator
    with newer._scale_loss_for_estimator_enabled():
        assert newer._scale_loss_for_estimator
    assert not newer._scale_loss_for_estimator
    older = strategy_of(4)
    with older._scale_loss_for_estimator_enabled():
        assert older._scale_loss_for_estimator
    assert older._scale_loss_for_estimator


def test_losses_that_keras_divides_are_not_divided_again(graph):
    distribution = strategy_of(4)
    tf1.get_default_graph()._last_loss_reduction = "sum_over_batch_size"
    assert not distribution._scale_loss_for_estimator


def test_loss_reduction(graph):
    assert get_loss_reduction() is VariableAggregation.MEAN
    ones = tf.ones([2])
    tf1.losses.mean_squared_error(ones, ones, reduction=tf1.losses.Reduction.SUM)
    assert get_loss_reduction() is VariableAggregation.SUM
    tf1.losses.mean_squared_error(ones, ones)
    assert get_loss_reduction() is VariableAggregation.MEAN
