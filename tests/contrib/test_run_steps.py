"""run_steps_on_dataset: one loop on the device, and what it gives back."""

import collections

import pytest
import tensorflow as tf

from tests.contrib.harness import counter, data
from tpudist.contrib.distribute import MultiStepContext, VariableAggregation, get_tower_context

NONE, SUM = VariableAggregation.NONE, VariableAggregation.SUM
MEAN = VariableAggregation.MEAN
FIRST = VariableAggregation.ONLY_FIRST_TOWER


def test_every_kind_of_output(mode, scope):
    def step(context, x):
        def tower(x):
            context.set_last_step_output("list", x)
            context.set_last_step_output("sum", x, SUM)
            context.set_last_step_output("mean", x, aggregation=MEAN)
            context.set_last_step_output("first", x, FIRST)
            context.set_last_step_output("op", x, reduce_op=tf.distribute.ReduceOp.SUM)
            context.set_last_step_output("number", 3.0, MEAN)
            context.set_last_step_output("nest", {"x": x, "y": [2.0 * x]}, SUM)
            return x + 1.0

        result = scope.call_for_each_tower(tower, x)
        context.set_last_step_output("outside", result)
        context.set_last_step_output("outside sum", result, SUM)
        context.set_last_step_output("outside list", scope.unwrap(result))
        context.set_last_step_output(
            "outside reduced", scope.reduce(SUM, result, "/device:CPU:0"), MEAN
        )

    context = scope.run_steps_on_dataset(step, data(scope), iterations=3)
    assert isinstance(context, MultiStepContext)
    found = mode.run(context.last_step_outputs)
    assert found == {
        "list": [8.0, 9.0, 10.0, 11.0],
        "sum": 38.0,
        "mean": 9.5,
        "first": 8.0,
        "op": 38.0,
        "number": 3.0,
        "nest": {"x": 38.0, "y": [76.0]},
        "outside": [9.0, 10.0, 11.0, 12.0],
        "outside sum": 42.0,
        "outside list": [9.0, 10.0, 11.0, 12.0],
        "outside reduced": 42.0,
    }


def test_outputs_set_in_a_merge(mode, scope):
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
    assert found == {"list": [4.0, 5.0, 6.0, 7.0], "sum": 22.0}
    assert context.non_tensor_outputs == {"name": 4}


def test_outputs_set_under_later_names(mode, scope):
    def step(context, x):
        def replica(x):
            context.set_last_step_output("sum", x, tf.distribute.ReduceOp.SUM)

        scope.extended.call_for_each_replica(replica, args=(x,))

    context = scope.run_steps_on_dataset(step, data(scope), iterations=2)
    assert mode.run(context.last_step_outputs) == {"sum": 22.0}


def test_non_tensor_outputs(mode, scope):
    thing = object()

    def step(context, x):
        context.set_non_tensor_output("outside", thing)

        def tower(x):
            context.set_non_tensor_output("inside", thing)

        scope.call_for_each_tower(tower, x)

    context = scope.run_steps_on_dataset(step, data(scope))
    assert context.non_tensor_outputs == {"outside": thing, "inside": [thing]}
    assert context.last_step_outputs == {}


def test_a_tuple_is_unpacked(mode, scope):
    iterator = data(
        scope, lambda: tf.data.Dataset.range(40).map(lambda x: (x, (x + 1, {"a": x + 2})))
    )

    def step(context, x, rest):
        y, z = rest
        context.set_last_step_output("all", [x, y, z["a"]], SUM)

    context = scope.run_steps_on_dataset(step, iterator, iterations=2)
    assert mode.run(context.last_step_outputs) == {"all": [22, 26, 30]}


@pytest.mark.parametrize(("make", "given"), [(lambda x: {"a": x}, dict), (lambda x: x, None)])
def test_other_structures_are_one_argument(mode, scope, make, given):
    iterator = data(scope, lambda: tf.data.Dataset.range(40).map(make))
    seen = []

    def step(context, x):
        seen.append(x)
        context.set_last_step_output("x", x["a"] if given else x, SUM)

    context = scope.run_steps_on_dataset(step, iterator)
    assert mode.run(context.last_step_outputs) == {"x": 6}
    assert given is None or isinstance(seen[0], given)


def test_the_step_is_traced_once_and_runs_often(mode, scope):
    traced = collections.Counter()
    v = counter("v", aggregation=SUM)

    def step(context, x):
        traced["step"] += 1

        def tower(x):
            traced["tower"] += 1
            v.assign_add(tf.constant(1.0))  # nothing depends on it

        scope.call_for_each_tower(tower, x)

    context = scope.run_steps_on_dataset(step, data(scope), iterations=7)
    if not mode.eager:
        mode.run(context.run_op)
    assert mode.run(scope.read_var(v)) == 28.0
    assert traced["step"] == 1 and traced["tower"] <= 4


def test_run_op_and_outputs_are_one_loop(graph, scope):
    v = counter("v", aggregation=MEAN)

    def step(context, x):
        def tower(x):
            context.set_last_step_output("x", x, SUM)
            context.set_last_step_output("v", v.assign_add(1.0), MEAN)

        return scope.call_for_each_tower(tower, x)

    context = scope.run_steps_on_dataset(step, data(scope), iterations=5)
    assert isinstance(context.run_op, tf.Operation)
    _, found = graph.run([context.run_op, context.last_step_outputs])
    assert found == {"x": 70.0, "v": 5.0}
    assert graph.run(context.last_step_outputs) == {"x": 150.0, "v": 10.0}
    graph.run(context.run_op)
    assert graph.run(scope.read_var(v)) == 15.0


def test_eager_mode_runs_at_once_and_again(eager, scope):
    v, iterator, traced = counter("v", aggregation=MEAN), data(scope), []

    def step(context, x):
        traced.append(1)

        def tower(x):
            v.assign_add(1.0)
            context.set_last_step_output("x", x, SUM)

        scope.call_for_each_tower(tower, x)

    for iterations, expected in [(1, 6.0), (3, 54.0), (tf.constant(1), 70.0)]:
        context = scope.run_steps_on_dataset(step, iterator, iterations)
        assert context.run_op is None
        assert eager.run(context.last_step_outputs) == {"x": expected}
    assert eager.run(scope.read_var(v)) == 5.0
    assert len(traced) == 1


def test_a_loop_in_a_function(eager, scope):
    v, iterator = counter("v", aggregation=MEAN), data(scope)

    @tf.function(autograph=False)
    def run():
        with scope.scope():
            context = scope.run_steps_on_dataset(
                lambda context, x: context.set_last_step_output(
                    "x", scope.call_for_each_tower(lambda x: v.assign_add(x), x), MEAN
                ),
                iterator,
                3,
            )
            return context.last_step_outputs

    run()
    assert eager.run(scope.read_var(v)) == 1.5 + 5.5 + 9.5
