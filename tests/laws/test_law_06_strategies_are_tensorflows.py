"""Law 6: a facade's strategy *is* a ``tf.distribute.Strategy``, on each era's page and release."""

import pytest
import tensorflow as tf

from tpudist.contrib.distribute import TPUStrategy as ContribStrategy
from tpudist.contrib.distribute import TPUStrategyV1
from tpudist.system import cluster
from tpudist.v2_0.strategy import TPUStrategy as TPUStrategy20
from tpudist.v2_2.strategy import TPUStrategy as TPUStrategy22

STRATEGIES = {
    "contrib": lambda resolver: ContribStrategy(resolver, steps_per_run=1),
    "contrib 1.14": TPUStrategyV1,
    "2.0": TPUStrategy20,
    "2.2": TPUStrategy22,
}


@pytest.fixture(params=sorted(STRATEGIES))
def strategy(request):
    return STRATEGIES[request.param](cluster.TPUClusterResolver("virtual:2"))


def test_it_is_a_strategy(strategy):
    base = tf.compat.v1.distribute.Strategy
    assert isinstance(strategy, (tf.distribute.Strategy, base))
    assert type(strategy).__name__.startswith("TPUStrategy"), "Keras asks the name"


def test_it_is_current_in_its_scope(strategy):
    assert not tf.distribute.has_strategy()
    with strategy.scope():
        assert tf.distribute.get_strategy() is strategy
    assert not tf.distribute.has_strategy()


def test_optimizers_and_checkpoints_accept_it(strategy, tmp_path):
    with strategy.scope():
        variable = tf.Variable(1.0)
        optimizer = tf.compat.v1.train.MomentumOptimizer(0.5, 0.9)

    @tf.function
    def step():
        def replica():
            return optimizer.apply_gradients([(tf.constant(1.0), variable)])

        strategy.extended.call_for_each_replica(replica)

    step()
    assert variable.numpy() == 0.0  # two replicas' gradients of 1, times 0.5
    path = tf.train.Checkpoint(variable=variable).save(str(tmp_path / "saved"))
    plain = tf.Variable(7.0)
    tf.train.Checkpoint(variable=plain).restore(path).assert_consumed()
    assert plain.numpy() == 0.0


def test_keras_accepts_it(strategy):
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
    history = model.fit(tf.ones([8, 2]), tf.zeros([8, 1]), batch_size=4, verbose=0)
    assert len(history.history["loss"]) == 1
