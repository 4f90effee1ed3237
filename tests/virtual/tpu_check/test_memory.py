"""How much memory of a TPU's core a step is said to take, and when that is told."""

import pytest
import tensorflow as tf

from tests.helpers.generations import second_generation
from tests.virtual import harness
from tpudist import machine
from tpudist.legacy import explain
from tpudist.tfcompat import versions
from tpudist.virtual import explanations

pytestmark = [
    second_generation,
    pytest.mark.skipif(not versions.TRACE_ONCE, reason=harness.TRACED_PER_REPLICA),
]

#: Numbers of a row, and of what two products make of it; all are whole tiles.
INPUTS, WIDTH = 256, 1024
FLOAT = 4


def traced(slice_, rows, width=WIDTH):
    """Traces a training step of two products; returns what `--explain` says of its memory."""
    strategy = harness.make(slice_)
    with strategy.scope():
        first = tf.Variable(tf.zeros([INPUTS, width]))
        second = tf.Variable(tf.zeros([width, INPUTS]))

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.relu(x @ first) @ second)
        gradients = tape.gradient(loss, [first, second])
        summed = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
        for variable, gradient in zip([first, second], summed):
            variable.assign_sub(0.1 * gradient)

    with explanations.recording() as recorded:
        fn = harness.graph(lambda x: strategy.run(step, args=(x,)))
        fn.get_concrete_function(tf.TensorSpec([rows, INPUTS]))
    return explain.as_dict(recorded[-1])["memory"]


@pytest.fixture
def told(monkeypatch, capfd):
    """A function that returns the lines that were told of too little memory."""
    monkeypatch.setenv(machine.TPU_CHECK, "warn")
    return lambda: [line for line in capfd.readouterr().err.splitlines() if " of HBM: " in line]


def test_variables_and_inputs_are_counted(told):
    memory = traced("8", 4096)
    assert memory["variables"] == 2 * INPUTS * WIDTH * FLOAT
    assert memory["inputs"] == 4096 * INPUTS * FLOAT
    hidden = 4096 * WIDTH * FLOAT
    assert hidden <= memory["values"] <= 3 * hidden  # the layer, and its gradient
    assert told() == []


def test_padding_to_whole_tiles_is_counted(told):
    assert traced("8", 4096, WIDTH + 1)["variables"] == 2 * (INPUTS * (WIDTH + 8)) * FLOAT


@pytest.mark.parametrize("mode, rows", [("warn", 1 << 22), ("error", 1 << 23)])
def test_a_step_that_needs_more_than_the_core_of_a_slice_has_is_told_once(
    told, mode, rows, monkeypatch
):
    monkeypatch.setenv(machine.TPU_CHECK, mode)
    for size in (1 << 20, rows, rows):
        traced("v5e-8", size)
    (line,) = told()
    assert line.startswith("step (%s:" % __file__)
    assert "its core of v5e:2x4 has 15.75 GiB" in line and "tpudist run --compile v5e:2x4" in line
    assert "%s:%d MatMul" % (__file__, step_line()) in line


def step_line():
    with open(__file__) as file:
        return 1 + file.read().split("tf.nn.relu(x @ first)")[0].count("\n")


def test_a_larger_slice_has_room(told):
    traced("v5p:2x2x1", 1 << 22)
    assert told() == []


def test_nothing_is_told_if_it_is_off(told, monkeypatch):
    monkeypatch.setenv(machine.TPU_CHECK, "off")
    assert traced("v5e-8", 1 << 22) is None
    assert told() == []


def test_what_a_loop_keeps_for_its_gradient_is_counted(told):
    rows, rounds = 1024, 100

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            (y,) = tf.while_loop(
                lambda y: True, lambda y: [tf.sin(y) * y], [x], maximum_iterations=rounds
            )
        return tape.gradient(y, x)

    strategy = harness.make("8")
    with explanations.recording() as recorded:
        fn = harness.graph(lambda x: strategy.run(step, args=(x,)))
        fn.get_concrete_function(tf.TensorSpec([rows, INPUTS]))
    kept = rows * INPUTS * FLOAT * rounds
    assert kept <= explain.as_dict(recorded[-1])["memory"]["values"] <= 4 * kept
