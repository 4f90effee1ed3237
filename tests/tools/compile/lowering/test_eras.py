"""One step in the spellings of three eras is one program."""

import numpy as np
import pytest
import tensorflow as tf

from tests.tools.compile import harness
from tpudist.contrib import tensorflow as contrib_tf

pytestmark = harness.lowers_here

ARGUMENTS = (np.zeros([16, 4], "f"), np.zeros([16, 3], "f"))
MEAN = tf.distribute.ReduceOp.MEAN


def gradients_of(variable, images, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.matmul(images, variable) - labels) ** 2)
    return loss, tape.gradient(loss, variable)


def contrib_step(variable):
    """In a merge_call the gradient is reduced to the variable, which is updated."""

    def merge(distribution, gradient):
        mean = distribution.reduce(
            contrib_tf.VariableAggregation.MEAN, gradient, destinations=variable
        )
        return distribution.update(variable, lambda v, g: v.assign_sub(0.1 * g), mean)

    def step(images, labels):
        context = contrib_tf.contrib.distribute.get_tower_context()
        loss, gradient = gradients_of(variable, images, labels)
        context.merge_call(merge, gradient)
        return loss

    return step


def replica_step(variable):
    """Replicas reduce, and each updates the variable, as in 2.0 and in 2.2."""

    def step(images, labels):
        context = tf.distribute.get_replica_context()
        loss, gradient = gradients_of(variable, images, labels)
        variable.assign_sub(0.1 * context.all_reduce(MEAN, gradient))
        return loss

    return step


STEPS = {"contrib": contrib_step, "2.0": replica_step, "2.2": replica_step}


def lowered(era):
    strategy = harness.strategies()[era]
    with strategy.scope():
        variable = tf.Variable(
            tf.ones([4, 3]), name="weight", aggregation=tf.VariableAggregation.NONE
        )
    return harness.lower(strategy, STEPS[era](variable), *ARGUMENTS)


def test_three_eras_lower_to_one_program():
    programs = {era: lowered(era) for era in STEPS}
    first = programs["2.2"]
    for era, program in programs.items():
        assert harness.skeleton(program) == harness.skeleton(first), era
        for field in ("parameters", "replicas", "partitions"):
            assert getattr(program, field) == getattr(first, field), (era, field)
        assert [each[:3] for each in program.collectives] == [("all-reduce", "float32", (4, 3))], (
            era
        )


def test_another_step_is_another_program():
    def step(images, labels):
        return gradients_of(variable, images, labels)[0]

    strategy = harness.strategy()
    with strategy.scope():
        variable = tf.Variable(tf.ones([4, 3]), name="weight")
    assert harness.skeleton(harness.lower(strategy, step, *ARGUMENTS)) != (
        harness.skeleton(lowered("2.2"))
    )


def graph_step(optimizer_class):
    """A tower function as in contrib scripts, which creates its variables."""

    def step(images, labels):
        tf1 = contrib_tf
        weight = tf1.get_variable("weight", [4, 3])
        loss = tf1.reduce_mean((tf1.matmul(images, weight) - labels) ** 2)
        optimizer = optimizer_class(tf1.train.MomentumOptimizer(0.1, 0.9))
        with tf1.control_dependencies(
            [optimizer.minimize(loss, global_step=tf1.train.get_or_create_global_step())]
        ):
            return tf1.identity(loss)

    return step


@pytest.mark.parametrize(
    "optimizer_class",
    [lambda optimizer: optimizer, contrib_tf.contrib.tpu.CrossShardOptimizer],
    ids=["optimizer", "CrossShardOptimizer"],
)
@pytest.mark.parametrize("runs_first", [False, True])
def test_graphs_of_the_contrib_era(optimizer_class, runs_first):
    with tf.Graph().as_default():
        strategy = harness.strategies()["contrib"]
        step = graph_step(optimizer_class)
        if runs_first:
            with strategy.scope():
                strategy.call_for_each_tower(step, *map(tf.constant, ARGUMENTS))
        program = harness.lower(strategy, step, *ARGUMENTS)
        made = [each.op.name for each in tf.compat.v1.global_variables()]
    names = {each.name: each for each in program.parameters}
    assert set(names) == {"images", "labels", "weight", "weight/Momentum", "global_step"}
    assert set(harness.updated(program)) == {"weight", "weight/Momentum", "global_step"}
    assert sorted(made) == ["global_step", "weight", "weight/Momentum"]
    assert [each[:3] for each in program.collectives] == [("all-reduce", "float32", (4, 3))]


def test_values_set_in_a_loop_are_outputs_of_the_program():
    strategy = harness.strategies()["contrib"]
    outputs = contrib_tf.contrib.distribute.MultiStepContext()
    outputs.begin(strategy)  # as the loop does

    def step(images):
        outputs.set_last_step_output("sum", tf.reduce_sum(images))
        outputs.set_non_tensor_output("word", "hello")

    program = harness.lower(strategy, step, ARGUMENTS[0])
    assert harness.results(program) == [()]
    assert not outputs.last_step_outputs and not outputs.non_tensor_outputs
