"""Layers of Keras in a replica function give values and gradients as on each share alone.

With one row a core, and with two: a batch of one gives the batched program axes of size 1, for
which TensorFlow fuses ops that it does not fuse otherwise. The oracle is the layer itself, called
eagerly on a replica's share: nothing is optimised there.
"""

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual import harness
from tpudist.tfcompat import versions

if not versions.TRACE_ONCE:
    pytest.skip(harness.TRACED_PER_REPLICA, allow_module_level=True)

from tests.virtual.vectorize import layer_cases

#: So many layers are in one replica function.
_TOGETHER = 12
_NAMES = layer_cases.of_this_release()
_PARTS = [_NAMES[i : i + _TOGETHER] for i in range(0, len(_NAMES), _TOGETHER)]


def values(rows, shapes, cores):
    """Numbers for each input of a layer, [cores, rows, ...]; zeros among them for masks."""
    shapes = shapes if isinstance(shapes, list) else [shapes]
    random = np.random.RandomState(1)
    return [random.uniform(-1, 1, (cores, rows) + shape).astype(np.float32) for shape in shapes]


def called(layer, inputs):
    """What a layer gives for its inputs."""
    if type(layer).__name__ in layer_cases.SEPARATE_INPUTS:
        return layer(*inputs)
    return layer(inputs if len(inputs) > 1 else inputs[0])


def made(inputs):
    """{name: the layer, with its weights} of the cases that are given these values."""
    layers = {name: layer_cases.CASES[name][0]() for name in inputs}
    for name, layer in layers.items():
        called(layer, [tf.constant(value[0]) for value in inputs[name]])
    return layers


def results(layer, inputs):
    """What a layer gives for its inputs, and the gradients of inputs and weights."""
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        output = tf.nest.flatten(called(layer, inputs))[0]
        loss = tf.reduce_sum(tf.cast(output, tf.float32) ** 2)
    weights = list(layer.trainable_variables)
    outputs = tape.gradient(loss, list(inputs) + weights)
    return [output] + [tf.convert_to_tensor(each) for each in outputs if each is not None]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("names", _PARTS, ids=lambda names: "%s to %s" % (names[0], names[-1]))
def test_layers_give_each_replica_what_its_share_gives_alone(names, rows):
    strategy = harness.make()
    inputs = {name: values(rows, layer_cases.CASES[name][1], harness.CORES) for name in names}
    plain = made(inputs)
    with strategy.scope():
        layers = made(inputs)
    for name, layer in layers.items():
        layer.set_weights(plain[name].get_weights())
    placed = {
        name: [harness.distributed(strategy, value) for value in inputs[name]] for name in names
    }

    def replica(placed):
        return {name: results(layers[name], placed[name]) for name in names}

    outputs = harness.graph(lambda x: strategy.run(replica, args=(x,)))(placed)
    for name in names:
        for core in range(harness.CORES):
            alone = results(plain[name], [tf.constant(value[core]) for value in inputs[name]])
            for i, wanted in enumerate(alone):
                got = strategy.experimental_local_results(outputs[name][i])[core]
                np.testing.assert_allclose(
                    got.numpy(), wanted.numpy(), 1e-4, 1e-4, err_msg="%s, output %d" % (name, i)
                )


def test_every_layer_has_a_case():
    assert layer_cases.missing() == []
