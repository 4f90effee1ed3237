"""Training loops of one's own, with Keras' optimizers and metrics."""

import numpy as np
import pytest
import tensorflow as tf

from tests.keras import harness
from tests.keras.harness import keras

pytestmark = pytest.mark.slow

SUM = tf.distribute.ReduceOp.SUM
OPTIMIZERS = {
    "momentum": lambda: keras.optimizers.SGD(0.05, momentum=0.9),
    "adam": lambda: keras.optimizers.Adam(0.02),
}


def batches():
    x, y = harness.rows()
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(harness.BATCH, drop_remainder=True)


class Loop:
    """A model, its optimizer and metrics, and one step of training."""

    def __init__(self, strategy, optimizer):
        self.strategy = strategy
        with strategy.scope():
            self.model = harness.dense_net()
            self.optimizer = OPTIMIZERS[optimizer]()
            self.mean = keras.metrics.Mean()
            self.error = keras.metrics.MeanAbsoluteError()
        random = np.random.RandomState(1)
        self.model.set_weights([random.rand(*w.shape) - 0.5 for w in self.model.get_weights()])

    def replica(self, x, y):
        with tf.GradientTape() as tape:
            output = self.model(x, training=True)
            losses = tf.reduce_sum((output - y) ** 2, axis=1)
            loss = tf.reduce_sum(losses) / harness.BATCH
        weights = self.model.trainable_variables
        self.optimizer.apply_gradients(list(zip(tape.gradient(loss, weights), weights)))
        self.mean.update_state(losses)
        self.error.update_state(y, output)
        return loss

    def train(self, epochs=2):
        """[(loss, mean, error)] per epoch."""

        @tf.function
        def step(x, y):
            losses = self.strategy.run(self.replica, args=(x, y))
            return self.strategy.reduce(SUM, losses, axis=None)

        rows = []
        for _ in range(epochs):
            total = 0.0
            for x, y in self.strategy.experimental_distribute_dataset(batches()):
                total += step(x, y).numpy()
            rows.append([total, self.mean.result().numpy(), self.error.result().numpy()])
        return np.array(rows)


@pytest.mark.parametrize(("cores", "optimizer"), [(8, "adam"), (2, "momentum")])
def test_the_numbers_do_not_depend_on_the_cores(cores, optimizer):
    # The optimizer is not built before: with Keras 3 its slots are made by
    # the first apply_gradients, while the replica function is traced.
    many, one = (Loop(harness.strategy_of(count), optimizer) for count in (cores, 1))
    actual, expected = many.train(), one.train()
    np.testing.assert_allclose(actual, expected, 1e-4, harness.ADAM_ATOL)
    harness.same_weights(many.model, one.model, atol=harness.ADAM_ATOL)
    assert actual[-1][0] < actual[0][0]


def test_a_loop_equals_fit():
    loop = Loop(harness.strategy_of(8), "momentum")
    loop.train()
    model = harness.single(harness.dense_net, harness.regress, OPTIMIZERS["momentum"])
    harness.fit(model, harness.rows(), epochs=2)
    harness.same_weights(loop.model, model)


def test_slots_made_in_a_trace_are_kept():
    # Adam's step count and moments are those of one device after 6 steps.
    loop = Loop(harness.strategy_of(8), "adam")
    loop.train()
    assert int(loop.optimizer.iterations.numpy()) == 6
    one = Loop(harness.strategy_of(1), "adam")
    one.train()
    ours, theirs = (_numbers(each.optimizer) for each in (loop, one))
    assert len(ours) == len(theirs) >= 1 + 2 * 4
    for number, other in zip(ours, theirs):
        np.testing.assert_allclose(number, other, 1e-3, 1e-5)


def _numbers(optimizer):
    """Values of an optimizer's variables; a property or a method by release."""
    variables = optimizer.variables
    variables = variables() if callable(variables) else variables
    return [variable.numpy() for variable in variables]


def test_metrics_count_the_rows_of_all_replicas():
    strategy = harness.strategy_of(8)
    with strategy.scope():
        mean = keras.metrics.Mean()
        accuracy = keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step():
        def replica():
            context = tf.distribute.get_replica_context()
            number = context.replica_id_in_sync_group
            mean.update_state(tf.cast(number, tf.float32))
            accuracy.update_state([0], tf.one_hot([tf.cast(number % 4, tf.int32)], 4))

        strategy.run(replica)

    step()
    step()
    assert mean.result().numpy() == 3.5
    assert accuracy.result().numpy() == 0.25
