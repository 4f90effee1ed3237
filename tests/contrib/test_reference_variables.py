"""Reference variables that are not the strategy's, such as a global step made before its scope."""

import pytest
import tensorflow as tf

from tests.contrib import harness
from tests.contrib.harness import close, data, tf1
from tpudist.contrib.distribute import VariableAggregation


def trained(distribution, learning_rate, iterations=3):
    """(run_op, weight, what the last step saw of the global step) of a model of one weight."""
    optimizer = tf1.train.MomentumOptimizer(learning_rate(tf1.train.get_global_step()), 0.9)

    def step(context, x):
        def tower(x):
            weight = tf1.get_variable("w", [], initializer=tf1.zeros_initializer())
            loss = tf.square(weight - 1.0)
            train = optimizer.minimize(loss, global_step=tf1.train.get_global_step())
            with tf.control_dependencies([train]):
                return tf.cast(tf.identity(tf1.train.get_global_step()), tf.float32)

        seen = distribution.call_for_each_tower(tower, x)
        context.set_last_step_output("seen", seen, VariableAggregation.MEAN)

    context = distribution.run_steps_on_dataset(step, data(distribution), iterations=iterations)
    weight = [v for v in tf1.trainable_variables() if v.op.name.startswith("w")][0]
    return context.run_op, weight, context.last_step_outputs["seen"]


@pytest.fixture(params=["graph", "graph_v1"])
def outside(request):
    """A graph with a global step that was made before the scope of four towers."""
    with harness.enter(request.param) as mode:
        tf1.train.get_or_create_global_step()
        mode.distribution = harness.strategy_of(4)
        with mode.distribution.scope():
            yield mode


def test_a_global_step_made_before_the_scope_is_updated_once(outside):
    run, _, _ = trained(outside.distribution, lambda step: 0.1)
    outside.run(run)
    assert outside.run(tf1.train.get_global_step()) == 3
    outside.run(run)
    assert outside.run(tf1.train.get_global_step()) == 6


def plain(steps):
    """The weight after steps of the same model on one device, with a rate that decays."""
    weight, momentum = 0.0, 0.0
    for _ in range(steps):
        momentum = 0.9 * momentum + 2 * (weight - 1.0)
        weight -= 0.1 * momentum
    return weight


def test_the_model_trains_as_with_a_global_step_inside(outside):
    run, weight, _ = trained(outside.distribution, lambda step: 0.1)
    outside.run(run)
    close(outside.run(outside.distribution.read_var(weight)), plain(3))


def test_each_step_sees_the_value_of_now(outside):
    run, _, seen = trained(outside.distribution, lambda step: 0.1)
    seen, _ = outside.run([seen, run])
    assert seen == 3.0


def test_an_assignment_that_nothing_depends_on_runs():
    with harness.enter("graph_v1") as mode:
        total = tf1.get_variable("total", [2], initializer=tf1.zeros_initializer())
        distribution = harness.strategy_of(4)
        with distribution.scope():

            def step(context, x):
                distribution.update(total, lambda v: tf1.assign_add(v, [1.0, 2.0]))
                return distribution.call_for_each_tower(lambda x: x, x)

            run = distribution.run_steps_on_dataset(step, data(distribution), iterations=5).run_op
            mode.run(run)
            assert mode.run(total).tolist() == [5.0, 10.0]


def test_the_name_of_a_variable_in_scopes_is_its_own():
    """Two variables of one name in different scopes stay two."""
    with harness.enter("graph_v1") as mode:
        made = []
        for scope in ("a", "b"):
            with tf1.variable_scope(scope):
                made.append(tf1.get_variable("v", [], initializer=tf1.zeros_initializer()))
        distribution = harness.strategy_of(2)
        with distribution.scope():

            def step(context, x):
                distribution.update(made[0], lambda v: tf1.assign_add(v, 1.0))
                distribution.update(made[1], lambda v: tf1.assign_add(v, 10.0))
                return distribution.call_for_each_tower(lambda x: x, x)

            run = distribution.run_steps_on_dataset(step, data(distribution), iterations=2).run_op
            mode.run(run)
            assert mode.run(made) == [2.0, 20.0]
