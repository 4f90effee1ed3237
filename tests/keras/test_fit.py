"""compile and fit in a strategy's scope: the numbers of one device."""

import inspect

import numpy as np
import pytest

from tests.keras import harness
from tests.keras.harness import keras

OPTIMIZERS = {
    "sgd": lambda: keras.optimizers.SGD(0.1),
    "momentum": lambda: keras.optimizers.SGD(0.1, momentum=0.9),
    "nesterov": lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: keras.optimizers.Adam(0.01),
}
NETS = {
    "dense": (harness.dense_net, harness.regress, harness.rows),
    "conv": (harness.conv_net, harness.classify, harness.images),
}
multi_step = pytest.mark.skipif(
    "steps_per_execution" not in inspect.signature(keras.Model.compile).parameters,
    reason="Keras of this release has no steps_per_execution (since 2.4)",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cores", "net", "optimizer"),
    [
        (8, "dense", "sgd"),
        (8, "dense", "momentum"),
        (8, "conv", "adam"),
        (2, "conv", "nesterov"),
        (2, "dense", "adam"),
    ],
)
def test_training_equals_one_device(cores, net, optimizer):
    make, compiled, data = NETS[net]
    one = harness.single(make, compiled, OPTIMIZERS[optimizer])
    many = harness.distributed(cores, make, compiled, OPTIMIZERS[optimizer])
    before = many.get_weights()
    expected = harness.fit(one, data())
    actual = harness.fit(many, data())
    atol = harness.ADAM_ATOL if optimizer == "adam" else harness.ATOL
    harness.same_history(actual, expected, atol=atol)
    harness.same_weights(many, one, atol=atol)
    assert actual["loss"][-1] < actual["loss"][0]
    assert any(np.abs(new - old).max() > 1e-2 for new, old in zip(many.get_weights(), before))


@pytest.mark.slow
def test_two_calls_of_fit_go_on():
    one = harness.single(*NETS["dense"][:2], optimizer=OPTIMIZERS["momentum"])
    many = harness.distributed(8, *NETS["dense"][:2], optimizer=OPTIMIZERS["momentum"])
    for epochs in (1, 2):
        harness.same_history(
            harness.fit(many, harness.rows(), epochs), harness.fit(one, harness.rows(), epochs)
        )
    harness.same_weights(many, one)


@pytest.mark.slow
@multi_step
def test_several_steps_per_execution():
    # 3 steps an epoch: the last execution is a short one.
    make, compiled, data = NETS["dense"]
    one = harness.single(make, compiled, OPTIMIZERS["momentum"])
    many = harness.distributed(8, make, compiled, OPTIMIZERS["momentum"], steps_per_execution=2)
    harness.same_history(harness.fit(many, data()), harness.fit(one, data()))
    harness.same_weights(many, one)


@pytest.mark.slow
def test_a_validation_set_is_evaluated():
    make, compiled, data = NETS["conv"]
    histories = []
    for model in (
        harness.distributed(8, make, compiled, OPTIMIZERS["sgd"]),
        harness.single(make, compiled, OPTIMIZERS["sgd"]),
    ):
        x, y = data()
        histories.append(
            model.fit(
                x[:32],
                y[:32],
                batch_size=harness.BATCH,
                epochs=2,
                verbose=0,
                shuffle=False,
                validation_data=(x[32:], y[32:]),
            ).history
        )
    assert any(name.startswith("val_") for name in histories[0])
    harness.same_history(*histories)
