"""The line that created a variable, and the variable's name."""

import tensorflow as tf

from tests.tools.compile import harness
from tpudist.contrib import tensorflow as contrib_tf
from tpudist.tfcompat import functions

pytestmark = harness.lowers_here

SPEC = functions.TensorSpec([2, 3], tf.float32)


def inputs(strategy, fn):
    """Returns {name: "file.py:line: "} of the variables of a step."""
    program = harness.lower(strategy, fn, SPEC)
    places = {each.name: each.location for each in program.parameters if each.kind == "variable"}
    return {name: place and place.rpartition("/")[2] + ": " for name, place in places.items()}


def line(mark):
    return harness.line(__file__, mark)


def test_lines_of_variables_layers_and_slots():
    strategy, slots = harness.strategy(), []
    with strategy.scope():
        scale = tf.Variable(2.0, name="scale")  # scale
        layer = tf.keras.layers.Dense(4, name="dense")
        layer.build((2, 3))  # built
    outside = tf.Variable(3.0, name="outside")

    def step(x):
        if not slots:
            made = tf.Variable(tf.zeros([4]), name="slot", trainable=False)  # slot
            slots.append(made)
        return layer(x) * scale * outside + slots[0]

    found = inputs(strategy, step)
    kernel = next(name for name in found if name.endswith("kernel"))
    assert found[kernel] == line("built")
    assert found["scale"] == line("scale")
    assert found["slot"] == line("slot")
    # One outside of the scope has its name; nobody noted its line.
    assert found["outside"] == ""


def test_lines_of_variables_of_a_graph():
    with tf.Graph().as_default():
        resolver = contrib_tf.contrib.cluster_resolver.TPUClusterResolver("virtual:2")
        distribution = contrib_tf.contrib.distribute.TPUStrategy(resolver)

        def tower(x):
            weight = tf.compat.v1.get_variable("weight", [3])  # weight
            return x * weight

        with distribution.scope():
            assert inputs(distribution, tower) == {"weight": line("weight")}
