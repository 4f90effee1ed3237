"""run_steps_on_dataset: its arguments, and what it refuses."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contrib.harness import data, numbers, tf1
from tpudist.contrib.distribute import MultiStepContext, VariableAggregation
from tpudist.errors import ArgumentError, ArgumentTypeError, ContextError

SUM = VariableAggregation.SUM


def test_iterations_as_a_tensor(graph, scope):
    for dtype in (tf.int32, tf.int64):
        iterations = tf1.placeholder(dtype, [])
        context = scope.run_steps_on_dataset(
            lambda context, x: context.set_last_step_output("x", x, SUM), data(scope), iterations
        )
        found = graph.run(context.last_step_outputs, feed_dict={iterations: 3})
        assert found == {"x": 8.0 + 9 + 10 + 11}


@pytest.mark.parametrize(
    "initial",
    [
        {"a": 7.0},
        {"a": 7.0, "b": [1, 2]},
        [7.0, np.array([1, 2])],
        [7.0, [1, 2], [1, 2], [1, 2], [1, 2]],
    ],
)
def test_initial_loop_values(graph, scope, initial):
    iterations = tf1.placeholder(tf.int32, [])

    def step(context, x):
        context.set_last_step_output("a", x, SUM)
        context.set_last_step_output(
            "b", scope.call_for_each_tower(lambda x: tf.cast(tf.stack([x, x]), tf.int32), x)
        )

    if isinstance(initial, list) and len(initial) == 5:
        initial = {"a": initial[0], "b": [tf.constant(v) for v in initial[1:]]}
    elif isinstance(initial, dict) and "b" in initial:
        initial = {"a": 7.0, "b": tf.constant([1, 2])}
    context = scope.run_steps_on_dataset(step, data(scope), iterations, initial_loop_values=initial)
    found = graph.run(context.last_step_outputs, feed_dict={iterations: 0})
    assert found["a"] == 7.0
    assert np.array(found["b"]).tolist() in ([[1, 2]] * 4, [[0, 0]] * 4)
    found = graph.run(context.last_step_outputs, feed_dict={iterations: 1})
    assert found["a"] == 6.0


@pytest.mark.parametrize(
    ("initial", "seen"),
    [
        ({"z": 1.0}, "'z'"),
        ([1.0, 2.0], "2 initial"),
        ({"a": "text"}, "'text'"),
        ({"a": [1.0, 2.0]}, "2 values"),
        ({"a": tf.zeros}, "a"),
    ],
)
def test_bad_initial_loop_values(graph, scope, initial, seen):
    with pytest.raises(ArgumentError, match=seen):
        scope.run_steps_on_dataset(
            lambda context, x: context.set_last_step_output("a", x, SUM),
            data(scope),
            initial_loop_values=initial,
        )


@pytest.mark.parametrize(
    ("iterations", "error"),
    [
        (float("nan"), ArgumentError),
        (0, ArgumentError),
        (-1, ArgumentError),
        (2.5, ArgumentError),
        ("3", ArgumentTypeError),
        (None, ArgumentTypeError),
        (True, ArgumentTypeError),
    ],
)
def test_bad_iterations(graph, scope, iterations, error):
    with pytest.raises(error, match="iterations="):
        scope.run_steps_on_dataset(lambda context, x: None, data(scope), iterations)


@pytest.mark.parametrize("iterator", [None, [1, 2], numbers(3)])
def test_bad_iterator(graph, scope, iterator):
    with pytest.raises(ArgumentTypeError, match="get_next"):
        scope.run_steps_on_dataset(lambda context, x: None, iterator)


def test_outputs_outside_of_a_step(graph, scope):
    with pytest.raises(ArgumentError, match="outside of a step"):
        MultiStepContext().set_last_step_output("x", tf.constant(1.0))
    with pytest.raises(ArgumentError, match="outside of a step"):
        MultiStepContext().set_non_tensor_output("x", 1)


def test_outputs_in_a_branch_of_a_tower(graph, scope):
    def step(context, x):
        def branch(x):
            context.set_last_step_output("x", x, SUM)
            return x

        scope.call_for_each_tower(lambda x: tf.cond(x > 0.0, lambda: branch(x), lambda: x), x)

    with pytest.raises((ContextError, RuntimeError), match="merge_call"):
        scope.run_steps_on_dataset(step, data(scope))


def test_initial_loop_values_change_no_result(mode, scope):
    context = scope.run_steps_on_dataset(
        lambda context, x: context.set_last_step_output("a", x, SUM),
        data(scope),
        2,
        initial_loop_values={"a": 7.0},
    )
    assert mode.run(context.last_step_outputs) == {"a": 22.0}
    assert (
        scope.run_steps_on_dataset(
            lambda context, x: None, data(scope), initial_loop_values={}
        ).last_step_outputs
        == {}
    )


def test_context_ends_with_the_loop(mode, scope):
    context = scope.run_steps_on_dataset(
        lambda context, x: context.set_last_step_output("a", x, SUM), data(scope)
    )
    with pytest.raises(ArgumentError, match="outside of a step"):
        context.set_last_step_output("b", tf.constant(1.0))
