"""What a TPU would refuse of towers is told in graphs and in steps; what it drops is not."""

import pytest
import tensorflow as tf

import tpudist
from tests.contrib.harness import data
from tests.helpers import generations
from tpudist import machine

LINE = "a TPU has no strings; move it out of the replica function"

tf1 = tf.compat.v1


@pytest.fixture
def lines(monkeypatch, capfd):
    """A function that returns what was told since the test began, a list of lines."""
    from tpudist.virtual.tpu_check import reports

    monkeypatch.setenv(machine.TPU_CHECK, "warn")
    monkeypatch.setattr(reports, "_reported", {})

    def told():
        found = [str(cause) for cause in tpudist.tpu_refusals()]
        assert all(line in capfd.readouterr().err for line in found[:1])
        return found

    return told


def length(x):
    return tf.cast(tf.strings.length(tf.as_string(x)), tf.float32)


def dropped(x):
    """A sum, beside what TensorFlow 1 drops on TPUs, and what nothing needs."""
    tf1.summary.scalar("x", x)
    tf.as_string(x)
    with tf.control_dependencies([tf1.Assert(x >= 0, [x])]):
        return tf1.Print(x, [x]) + 1


def test_towers_of_a_graph(graph, scope, lines):
    scope.call_for_each_tower(length, 1.5)
    (line,) = lines()
    assert line.startswith(__file__) and LINE in line


def test_towers_of_steps(mode, scope, lines):
    def step(context, x):
        context.set_last_step_output("x", scope.call_for_each_tower(length, x))

    mode.run(scope.run_steps_on_dataset(step, data(scope), iterations=2).run_op)
    assert [LINE in line for line in lines()] == [True]


def test_what_a_tpu_drops_is_not_told(graph, scope, lines):
    scope.call_for_each_tower(dropped, 1.5)
    assert lines() == []


def test_what_a_tpu_drops_in_steps_is_not_told(graph, scope, lines):
    def step(context, x):
        context.set_last_step_output("x", scope.call_for_each_tower(dropped, x))

    graph.run(scope.run_steps_on_dataset(step, data(scope), iterations=2).run_op)
    assert lines() == []


@generations.second_generation  # TensorFlow 1 forgets what such an op calls
def test_an_assertion_about_python_values_is_not_told(graph, scope, lines):
    def tower(x):
        tf.test.TestCase().assertAllEqual(x.shape.as_list(), [])
        return x * 2

    def step(context, x):
        context.set_last_step_output("x", scope.call_for_each_tower(tower, x))

    graph.run(scope.run_steps_on_dataset(step, data(scope), iterations=2).run_op)
    assert lines() == []


def test_outside_compilation_is_the_hosts(graph, scope, lines):
    from tpudist.contrib import tensorflow

    outside = tensorflow.contrib.tpu.outside_compilation
    scope.call_for_each_tower(lambda x: outside(length, x), 1.5)
    assert lines() == []
