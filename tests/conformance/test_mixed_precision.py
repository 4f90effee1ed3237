"""Policies of Keras: a variable is wrapped by one that casts, a loss may be scaled.

The oracle is the same model without a strategy, on the global batch.
"""

import contextlib

import numpy as np
import pytest
import tensorflow as tf

from tests.conformance import modes
from tpudist.tfcompat import versions

if versions.BY_DEVICE:
    pytest.skip("before 2.2 Keras refuses policies on TPUs", allow_module_level=True)

keras = tf.keras
#: Keras 2 has its own word about float16 on TPUs.
KERAS_3 = getattr(keras, "__version__", "2").startswith("3")

#: {policy: how far the weights may be off: 8 bits of a bfloat16's fraction, 11 of a float16's}
POLICIES = {"float32": 1e-5, "mixed_float16": 2e-3, "mixed_bfloat16": 2e-2, "bfloat16": 3e-2}
CORES, ROWS, STEPS = 4, 8, 3


def _module():
    found = keras.mixed_precision
    return found if hasattr(found, "set_global_policy") else found.experimental


@pytest.fixture(params=sorted(POLICIES))
def policy(request):
    """The name of each policy in turn, in force."""
    module = _module()
    use = getattr(module, "set_global_policy", None) or module.set_policy
    use(request.param)
    yield request.param
    use("float32")


def _data():
    random = np.random.RandomState(0)
    x = random.uniform(-1, 1, [ROWS * STEPS, 4]).astype(np.float32)
    return x, x.sum(1, keepdims=True)


def _model():
    layers = [
        keras.layers.Dense(3, activation="relu", kernel_initializer="ones"),
        keras.layers.Dense(1, kernel_initializer="ones", dtype="float32"),
    ]
    model = keras.Sequential(layers)
    model.build([None, 4])
    return model


def _optimizer(name, policy):
    made = getattr(keras.optimizers, name)(0.1)
    if policy == "mixed_float16":
        return keras.optimizers.LossScaleOptimizer(made, initial_scale=16.0)
    return made


def _gradients(model, optimizer, x, y):
    """The gradients of the mean loss of the global batch, summed over the replicas."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((tf.cast(model(x, training=True), tf.float32) - y) ** 2) / ROWS
        scale = getattr(optimizer, "get_scaled_loss", None) or getattr(
            optimizer, "scale_loss", None
        )
        scaled = scale(loss) if scale else loss
    gradients = tape.gradient(scaled, model.trainable_variables)
    unscale = getattr(optimizer, "get_unscaled_gradients", None)
    return unscale(gradients) if unscale else gradients


def _looped(strategy, policy, name):
    """What a training loop leaves the weights at; without a strategy, on one device."""
    x, y = _data()
    with strategy.scope() if strategy else contextlib.nullcontext():
        model, optimizer = _model(), _optimizer(name, policy)

    def replica(x, y):
        gradients = _gradients(model, optimizer, x, y)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    @tf.function
    def step(x, y):
        return strategy.run(replica, args=(x, y)) if strategy else replica(x, y)

    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(ROWS, drop_remainder=True)
    for rows in strategy.experimental_distribute_dataset(data) if strategy else data:
        step(*rows)
    return _weights(model)


def _fitted(strategy, policy, name):
    """What `fit` leaves the weights at."""
    x, y = _data()
    with strategy.scope() if strategy else contextlib.nullcontext():
        model = _model()
        model.compile(_optimizer(name, policy), "mse")
    model.fit(x, y, batch_size=ROWS, epochs=1, shuffle=False, verbose=0)
    return _weights(model)


def _weights(model):
    return [np.array(each, np.float32) for each in model.get_weights()]


def _check(train, policy, name):
    if policy == "mixed_float16" and not KERAS_3:
        with pytest.raises(ValueError, match="not supported with .*TPUStrategy"):
            with modes.V2_2.strategy().scope():
                _model()
        return
    found = train(modes.V2_2.strategy("virtual:%d" % CORES), policy, name)
    alone = train(None, policy, name)
    for got, wanted in zip(found, alone):
        np.testing.assert_allclose(got, wanted, 0, POLICIES[policy])
    assert np.abs(alone[0] - np.ones_like(alone[0])).max() > POLICIES[policy]


#: Adam's 1 - beta_2 is 0 in bfloat16, with a strategy or without.
_LOOPED = [(policy, "SGD") for policy in POLICIES]
_LOOPED += [(policy, "Adam") for policy in POLICIES if policy != "bfloat16"]


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "name"), _LOOPED, indirect=["policy"])
def test_a_loop_under_a_policy_trains_as_one_device(policy, name):
    _check(_looped, policy, name)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"], indirect=True)
def test_fit_under_a_policy_trains_as_one_device(policy):
    _check(_fitted, policy, "Adam")
