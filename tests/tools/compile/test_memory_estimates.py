"""The memory that the virtual TPU estimates, beside what the TPU compiler needs."""

import pytest
import tensorflow as tf

import tpudist
from tests.benchmarks import compiled_models
from tests.helpers.generations import second_generation
from tests.tools.compile import harness, memory_models
from tpudist import machine
from tpudist.virtual import explanations

pytestmark = [pytest.mark.slow, second_generation, harness.lowers_here]


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(name, marks=() if name == "mlp" else pytest.mark.proof)
        for name in memory_models.MODELS
    ],
)
def test_the_estimate_is_within_a_quarter_of_the_compilers_figure(model):
    policy, make_model, make_optimizer, batch = memory_models.MODELS[model]
    tf.keras.mixed_precision.set_global_policy(policy)
    strategy = harness.strategy()
    with strategy.scope():
        net, optimizer = make_model(), make_optimizer()
        optimizer.build(net.trainable_variables)
    step = compiled_models.training_step(net, optimizer)
    with explanations.recording() as recorded:
        traced = tf.function(lambda *args: strategy.run(step, args), autograph=False)
        traced.get_concrete_function(*batch)
    estimated = recorded[-1].memory.total
    needed = tpudist.compile_step(strategy, step, batch).memory.total
    print("%s: estimated %.3g, needed %.3g: %.2f" % (model, estimated, needed, estimated / needed))
    assert 0.75 < estimated / needed < 1.25


@pytest.fixture(autouse=True)
def check_and_policy(monkeypatch):
    """Switches the check on, and puts Keras' policy back."""
    monkeypatch.setenv(machine.TPU_CHECK, "warn")
    before = tf.keras.mixed_precision.global_policy()
    yield
    tf.keras.mixed_precision.set_global_policy(before)
