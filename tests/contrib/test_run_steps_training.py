"""``run_steps_on_dataset``: variables, models, optimizers and iterators."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contrib.harness import close, counter, data, numbers, tf1
from tpudist.contrib.cluster_resolver import TPUClusterResolver
from tpudist.contrib.distribute import TPUStrategy, VariableAggregation

SUM = VariableAggregation.SUM
MEAN = VariableAggregation.MEAN


FIRST = VariableAggregation.ONLY_FIRST_TOWER


def test_variables_are_created_inside(mode, scope):
    made = []

    def step(context, x):
        def tower(x):
            if not made:
                made.append(
                    tf1.get_variable(
                        "inside", [2], initializer=tf1.ones_initializer(), aggregation=MEAN
                    )
                )
            return made[0].assign_add(tf.stack([x, 1.0]))

        scope.call_for_each_tower(tower, x)

    context = scope.run_steps_on_dataset(step, data(scope), iterations=2)
    if not mode.eager:
        mode.run(context.run_op)
        assert [v.op.name for v in tf1.global_variables()] == ["inside"]
    assert mode.run(scope.read_var(made[0])).tolist() == [1.0 + 1.5 + 5.5, 3.0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf1.get_variable("w", [], initializer=tf1.ones_initializer()),
        lambda: tf1.Variable(lambda: tf1.ones([]), name="w"),
    ],
    ids=["get_variable", "Variable"],
)
def test_a_model_and_an_optimizer(graph, scope, make):
    def step(context, x):
        def tower(x):
            step_number = tf1.train.get_or_create_global_step()
            w = make()
            optimizer = tf1.train.MomentumOptimizer(0.1, 0.9)
            done = optimizer.minimize(w * x, global_step=step_number)
            context.set_last_step_output("w", w, FIRST)
            return done

        return scope.group(scope.call_for_each_tower(tower, x))

    context = scope.run_steps_on_dataset(step, data(scope), iterations=2)
    graph.run(context.run_op)
    assert graph.run(tf1.train.get_global_step()) == 2
    assert [v.op.name for v in tf1.trainable_variables()] == ["w"]
    values = {v.op.name: graph.run(scope.read_var(v)) for v in tf1.global_variables()}
    close(values["w"], 1.0 - 0.1 * 1.5 - 0.1 * (0.9 * 1.5 + 5.5))


def test_towers_keep_their_own_variables(mode, scope):
    v = counter("v", synchronization=tf.VariableSynchronization.ON_READ, aggregation=SUM)

    def step(context, x):
        scope.call_for_each_tower(lambda x: v.assign_add(x), x)
        context.set_last_step_output("v", scope.read_var(v), MEAN)

    context = scope.run_steps_on_dataset(step, data(scope), iterations=3)
    assert mode.run(context.last_step_outputs)["v"] == sum(range(12))
    parts = [tf.identity(part) for part in scope.unwrap(v)]
    if mode.eager:
        assert mode.run(parts) == [12.0, 15.0, 18.0, 21.0]


def test_iterators_of_tf_data_go_to_every_tower(mode, scope):
    iterator = tf1.data.make_one_shot_iterator(numbers(10)())

    def step(context, x):
        result = scope.call_for_each_tower(lambda x: x * 1.0, x)
        context.set_last_step_output("x", result)

    context = scope.run_steps_on_dataset(step, iterator, iterations=3)
    assert mode.run(context.last_step_outputs)["x"] == [2.0] * 4


def test_iterators_of_the_strategy(mode, scope):
    iterator = scope.make_dataset_iterator(tf.data.Dataset.range(80).batch(8, drop_remainder=True))
    start = iterator.initialize()
    if not mode.eager:
        mode.run(start)

    def step(context, x):
        context.set_last_step_output("x", scope.call_for_each_tower(lambda x: tf.identity(x), x))

    context = scope.run_steps_on_dataset(step, iterator, iterations=2)
    found = mode.run(context.last_step_outputs)["x"]
    assert np.array(found).tolist() == [[8, 9], [10, 11], [12, 13], [14, 15]]


def test_distributed_iterators(eager, scope):
    dataset = tf.data.Dataset.range(80).batch(8, drop_remainder=True)
    iterator = iter(scope.experimental_distribute_dataset(dataset))

    def step(context, x):
        context.set_last_step_output("x", scope.call_for_each_tower(lambda x: tf.identity(x), x))

    for iterations, first in [(2, 8), (3, 32)]:
        context = scope.run_steps_on_dataset(step, iterator, iterations)
        found = np.array(eager.run(context.last_step_outputs["x"]))
        assert found.ravel().tolist() == list(range(first, first + 8))


def test_dataset_that_ends_in_the_loop(mode, scope):
    v, iterator = counter("v", aggregation=MEAN), data(scope, numbers(10))

    def step(context, x):
        scope.call_for_each_tower(lambda x: v.assign_add(1.0), x)

    with pytest.raises(tf.errors.OutOfRangeError) as caught:
        mode.run(scope.run_steps_on_dataset(step, iterator, 3).run_op)
    if mode.eager:
        assert "Instead: dataset.repeat()" in str(caught.value)
        assert "End of sequence" in str(caught.value)
        assert isinstance(caught.value, tf.errors.OutOfRangeError)
    assert mode.run(scope.read_var(v)) == 2.0


def test_steps_per_run_does_not_matter(mode):
    for steps_per_run in (1, 100):
        distribution = TPUStrategy(TPUClusterResolver("virtual:2"), steps_per_run)
        with distribution.scope():
            context = distribution.run_steps_on_dataset(
                lambda context, x: context.set_last_step_output("x", x, SUM),
                data(distribution),
                iterations=3,
            )
            assert mode.run(context.last_step_outputs) == {"x": 9.0}
        assert distribution.steps_per_run == steps_per_run


def test_several_loops_on_one_iterator(graph, scope):
    iterator = data(scope)

    def step(context, x):
        context.set_last_step_output("x", x, SUM)

    loops = [scope.run_steps_on_dataset(step, iterator, n) for n in (1, 2)]
    assert [graph.run(loop.last_step_outputs["x"]) for loop in (loops[0], loops[1], loops[0])] == [
        6.0,
        38.0,
        54.0,
    ]
