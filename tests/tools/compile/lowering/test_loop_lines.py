"""Ops in the body of a loop have the user's line, not that of another op of the same name."""

import tensorflow as tf

from tests.tools.compile import harness

pytestmark = harness.lowers_here


def test_a_loop_beside_an_op_of_the_same_name():
    @tf.function
    def step(x):
        x = tf.sin(x, name="shared")  # outside
        for _ in tf.range(3):
            x = tf.tanh(x, name="shared")  # inside
        return x

    program = harness.lower(harness.strategy(), step, tf.TensorSpec([4, 4]))
    lines = {}
    for computation in harness.module(program).computations:
        for each in computation.instructions:
            if each.opcode in ("sine", "tanh"):
                place = program.locations.get(each.metadata.op_name, "")
                lines[each.opcode] = place.rpartition("/")[2] + ": "
    assert lines == {
        "sine": harness.line(__file__, "outside"),
        "tanh": harness.line(__file__, "inside"),
    }
