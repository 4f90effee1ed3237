"""run_steps_on_dataset: one loop on the device, and what it gives back."""

import collections

import numpy as np
import pytest
import tensorflow as tf

from tests.contrib.harness import close, eager, graph, mode, numbers, strategy_of, tf1  # noqa: F401
from tpudist.contrib.cluster_resolver import TPUClusterResolver
from tpudist.contrib.distribute import get_tower_context
from tpudist.contrib.distribute import MultiStepContext
from tpudist.contrib.distribute import TPUStrategy
from tpudist.contrib.distribute import VariableAggregation

NONE, SUM = VariableAggregation.NONE, VariableAggregation.SUM
MEAN = VariableAggregation.MEAN
FIRST = VariableAggregation.ONLY_FIRST_TOWER


@pytest.fixture
def scope():
    """A strategy of four towers, and its scope."""
    distribution = strategy_of(4)
    with distribution.scope():
        yield distribution


def data(distribution, count=1000, towers_data=None):
    dataset = distribution.distribute_dataset(towers_data or numbers(count))
    return dataset.make_one_shot_iterator()


def counter(name, **kwargs):
    return tf1.get_variable(name, [], initializer=tf1.zeros_initializer(),
                            trainable=False, **kwargs)


def test_every_kind_of_output(mode, scope):  # noqa: F811
    def step(context, x):
        def tower(x):
            context.set_last_step_output("list", x)
            context.set_last_step_output("sum", x, SUM)
            context.set_last_step_output("mean", x, aggregation=MEAN)
            context.set_last_step_output("first", x, FIRST)
            context.set_last_step_output(
                "op", x, reduce_op=tf.distribute.ReduceOp.SUM)
            context.set_last_step_output("number", 3., MEAN)
            context.set_last_step_output("nest", {"x": x, "y": [2. * x]}, SUM)
            return x + 1.
        result = scope.call_for_each_tower(tower, x)
        context.set_last_step_output("outside", result)
        context.set_last_step_output("outside sum", result, SUM)
        context.set_last_step_output("outside list", scope.unwrap(result))
        context.set_last_step_output("outside reduced", scope.reduce(
            SUM, result, "/device:CPU:0"), MEAN)
    context = scope.run_steps_on_dataset(step, data(scope), iterations=3)
    assert isinstance(context, MultiStepContext)
    found = mode.run(context.last_step_outputs)
    assert found == {
        "list": [8., 9., 10., 11.], "sum": 38., "mean": 9.5, "first": 8.,
        "op": 38., "number": 3., "nest": {"x": 38., "y": [76.]},
        "outside": [9., 10., 11., 12.], "outside sum": 42.,
        "outside list": [9., 10., 11., 12.], "outside reduced": 42.}


def test_outputs_set_in_a_merge(mode, scope):  # noqa: F811
    def step(context, x):
        def merge_fn(distribution, x):
            context.set_last_step_output("list", x)
            context.set_last_step_output("sum", x, SUM)
            context.set_non_tensor_output("name", distribution.num_towers)

        def tower(x):
            get_tower_context().merge_call(merge_fn, x)
        scope.call_for_each_tower(tower, x)
    context = scope.run_steps_on_dataset(step, data(scope), iterations=2)
    found = mode.run(context.last_step_outputs)
    assert found == {"list": [4., 5., 6., 7.], "sum": 22.}
    assert context.non_tensor_outputs == {"name": 4}


def test_outputs_set_under_later_names(mode, scope):  # noqa: F811
    def step(context, x):
        def replica(x):
            context.set_last_step_output("sum", x, tf.distribute.ReduceOp.SUM)
        scope.extended.call_for_each_replica(replica, args=(x,))
    context = scope.run_steps_on_dataset(step, data(scope), iterations=2)
    assert mode.run(context.last_step_outputs) == {"sum": 22.}


def test_non_tensor_outputs(mode, scope):  # noqa: F811
    thing = object()

    def step(context, x):
        context.set_non_tensor_output("outside", thing)

        def tower(x):
            context.set_non_tensor_output("inside", thing)
        scope.call_for_each_tower(tower, x)
    context = scope.run_steps_on_dataset(step, data(scope))
    assert context.non_tensor_outputs == {"outside": thing, "inside": [thing]}
    assert context.last_step_outputs == {}


def test_a_tuple_is_unpacked(mode, scope):  # noqa: F811
    iterator = data(scope, towers_data=lambda: tf.data.Dataset.range(40).map(
        lambda x: (x, (x + 1, {"a": x + 2}))))

    def step(context, x, rest):
        y, z = rest
        context.set_last_step_output("all", [x, y, z["a"]], SUM)
    context = scope.run_steps_on_dataset(step, iterator, iterations=2)
    assert mode.run(context.last_step_outputs) == {"all": [22, 26, 30]}


@pytest.mark.parametrize("make, given", [
    (lambda x: {"a": x}, dict), (lambda x: x, None)])
def test_other_structures_are_one_argument(mode, scope, make, given):  # noqa: F811
    iterator = data(scope, towers_data=lambda: tf.data.Dataset.range(40).map(make))
    seen = []

    def step(context, x):
        seen.append(x)
        context.set_last_step_output("x", x["a"] if given else x, SUM)
    context = scope.run_steps_on_dataset(step, iterator)
    assert mode.run(context.last_step_outputs) == {"x": 6}
    assert given is None or isinstance(seen[0], given)


def test_the_step_is_traced_once_and_runs_often(mode, scope):  # noqa: F811
    traced = collections.Counter()
    v = counter("v", aggregation=SUM)

    def step(context, x):
        traced["step"] += 1

        def tower(x):
            traced["tower"] += 1
            v.assign_add(tf.constant(1.))  # nothing depends on it
        scope.call_for_each_tower(tower, x)
    context = scope.run_steps_on_dataset(step, data(scope), iterations=7)
    if not mode.eager:
        mode.run(context.run_op)
    assert mode.run(scope.read_var(v)) == 28.
    assert traced["step"] == 1 and traced["tower"] <= 4


def test_run_op_and_outputs_are_one_loop(graph, scope):  # noqa: F811
    v = counter("v", aggregation=MEAN)

    def step(context, x):
        def tower(x):
            context.set_last_step_output("x", x, SUM)
            context.set_last_step_output("v", v.assign_add(1.), MEAN)
        return scope.call_for_each_tower(tower, x)
    context = scope.run_steps_on_dataset(step, data(scope), iterations=5)
    assert isinstance(context.run_op, tf.Operation)
    _, found = graph.run([context.run_op, context.last_step_outputs])
    assert found == {"x": 70., "v": 5.}
    assert graph.run(context.last_step_outputs) == {"x": 150., "v": 10.}
    graph.run(context.run_op)
    assert graph.run(scope.read_var(v)) == 15.


def test_eager_mode_runs_at_once_and_again(eager, scope):  # noqa: F811
    v, iterator, traced = counter("v", aggregation=MEAN), data(scope), []

    def step(context, x):
        traced.append(1)

        def tower(x):
            v.assign_add(1.)
            context.set_last_step_output("x", x, SUM)
        scope.call_for_each_tower(tower, x)
    for iterations, expected in [(1, 6.), (3, 54.), (tf.constant(1), 70.)]:
        context = scope.run_steps_on_dataset(step, iterator, iterations)
        assert context.run_op is None
        assert eager.run(context.last_step_outputs) == {"x": expected}
    assert eager.run(scope.read_var(v)) == 5.
    assert len(traced) == 1


def test_a_loop_in_a_function(eager, scope):  # noqa: F811
    v, iterator = counter("v", aggregation=MEAN), data(scope)

    @tf.function(autograph=False)
    def run():
        with scope.scope():
            context = scope.run_steps_on_dataset(
                lambda context, x: context.set_last_step_output(
                    "x", scope.call_for_each_tower(
                        lambda x: v.assign_add(x), x), MEAN), iterator, 3)
            return context.last_step_outputs
    run()
    assert eager.run(scope.read_var(v)) == 1.5 + 5.5 + 9.5


def test_variables_are_created_inside(mode, scope):  # noqa: F811
    made = []

    def step(context, x):
        def tower(x):
            if not made:
                made.append(tf1.get_variable(
                    "inside", [2], initializer=tf1.ones_initializer(),
                    aggregation=MEAN))
            return made[0].assign_add(tf.stack([x, 1.]))
        scope.call_for_each_tower(tower, x)
    context = scope.run_steps_on_dataset(step, data(scope), iterations=2)
    if not mode.eager:
        mode.run(context.run_op)
        assert [v.op.name for v in tf1.global_variables()] == ["inside"]
    assert mode.run(scope.read_var(made[0])).tolist() == [1. + 1.5 + 5.5, 3.]


@pytest.mark.parametrize("make", [
    lambda: tf1.get_variable("w", [], initializer=tf1.ones_initializer()),
    lambda: tf1.Variable(lambda: tf1.ones([]), name="w")],
                         ids=["get_variable", "Variable"])
def test_a_model_and_an_optimizer(graph, scope, make):  # noqa: F811
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
    values = {v.op.name: graph.run(scope.read_var(v))
              for v in tf1.global_variables()}
    close(values["w"], 1. - 0.1 * 1.5 - 0.1 * (0.9 * 1.5 + 5.5))


def test_towers_keep_their_own_variables(mode, scope):  # noqa: F811
    v = counter("v", synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=SUM)

    def step(context, x):
        scope.call_for_each_tower(lambda x: v.assign_add(x), x)
        context.set_last_step_output("v", scope.read_var(v), MEAN)
    context = scope.run_steps_on_dataset(step, data(scope), iterations=3)
    assert mode.run(context.last_step_outputs)["v"] == sum(range(12))
    parts = [tf.identity(part) for part in scope.unwrap(v)]
    if mode.eager:
        assert mode.run(parts) == [12., 15., 18., 21.]


def test_iterators_of_tf_data_go_to_every_tower(mode, scope):  # noqa: F811
    iterator = tf1.data.make_one_shot_iterator(numbers(10)())

    def step(context, x):
        result = scope.call_for_each_tower(lambda x: x * 1., x)
        context.set_last_step_output("x", result)
    context = scope.run_steps_on_dataset(step, iterator, iterations=3)
    assert mode.run(context.last_step_outputs)["x"] == [2.] * 4


def test_iterators_of_the_strategy(mode, scope):  # noqa: F811
    iterator = scope.make_dataset_iterator(
        tf.data.Dataset.range(80).batch(8, drop_remainder=True))
    start = iterator.initialize()
    if not mode.eager:
        mode.run(start)

    def step(context, x):
        context.set_last_step_output("x", scope.call_for_each_tower(
            lambda x: tf.identity(x), x))
    context = scope.run_steps_on_dataset(step, iterator, iterations=2)
    found = mode.run(context.last_step_outputs)["x"]
    assert np.array(found).tolist() == [[8, 9], [10, 11], [12, 13], [14, 15]]


def test_distributed_iterators(eager, scope):  # noqa: F811
    dataset = tf.data.Dataset.range(80).batch(8, drop_remainder=True)
    iterator = iter(scope.experimental_distribute_dataset(dataset))

    def step(context, x):
        context.set_last_step_output("x", scope.call_for_each_tower(
            lambda x: tf.identity(x), x))
    for iterations, first in [(2, 8), (3, 32)]:
        context = scope.run_steps_on_dataset(step, iterator, iterations)
        found = np.array(eager.run(context.last_step_outputs["x"]))
        assert found.ravel().tolist() == list(range(first, first + 8))


def test_dataset_that_ends_in_the_loop(mode, scope):  # noqa: F811
    v, iterator = counter("v", aggregation=MEAN), data(scope, 10)

    def step(context, x):
        scope.call_for_each_tower(lambda x: v.assign_add(1.), x)
    with pytest.raises(tf.errors.OutOfRangeError) as caught:
        mode.run(scope.run_steps_on_dataset(step, iterator, 3).run_op)
    if mode.eager:
        assert "Instead: dataset.repeat()" in str(caught.value)
        assert "End of sequence" in str(caught.value)
        assert isinstance(caught.value, tf.errors.OutOfRangeError)
    assert mode.run(scope.read_var(v)) == 2.


def test_steps_per_run_does_not_matter(mode):  # noqa: F811
    for steps_per_run in (1, 100):
        distribution = TPUStrategy(TPUClusterResolver("virtual:2"), steps_per_run)
        with distribution.scope():
            context = distribution.run_steps_on_dataset(
                lambda context, x: context.set_last_step_output("x", x, SUM),
                data(distribution), iterations=3)
            assert mode.run(context.last_step_outputs) == {"x": 9.}
        assert distribution.steps_per_run == steps_per_run


def test_several_loops_on_one_iterator(graph, scope):  # noqa: F811
    iterator = data(scope)

    def step(context, x):
        context.set_last_step_output("x", x, SUM)
    loops = [scope.run_steps_on_dataset(step, iterator, n) for n in (1, 2)]
    assert [graph.run(loop.last_step_outputs["x"])
            for loop in (loops[0], loops[1], loops[0])] == [6., 38., 54.]
