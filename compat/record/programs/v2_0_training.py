"""2.0: a custom loop with experimental_run_v2 over a distributed dataset."""

import numpy as np

ERA = "v2_0"


def main(tf, strategy, run, show):
    for name, make in (
        ("sgd", lambda: tf.keras.optimizers.SGD(0.1)),
        ("momentum", lambda: tf.keras.optimizers.SGD(0.05, 0.9)),
        ("adam", lambda: tf.keras.optimizers.Adam(0.1)),
    ):
        train(tf, strategy, run, show, name, make)


def train(tf, strategy, run, show, name, make):
    random = np.random.RandomState(3)
    x = random.uniform(-1, 1, (40, 3)).astype(np.float32)
    y = (x.dot([[2.0], [0.0], [-1.0]]) + 1).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(8).repeat(2)
    with strategy.scope():
        kernel = tf.Variable(tf.zeros([3, 1]))
        bias = tf.Variable(tf.zeros([1]))
        optimizer = make()

    def replica(batch):
        x, y = batch
        with tf.GradientTape() as tape:
            error = tf.matmul(x, kernel) + bias - y
            loss = tf.reduce_sum(error**2) / 8.0
        gradients = tape.gradient(loss, [kernel, bias])
        optimizer.apply_gradients(zip(gradients, [kernel, bias]))
        return loss

    @tf.function
    def step(batch):
        losses = strategy.experimental_run_v2(replica, args=(batch,))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    losses = [run(step(batch)) for batch in strategy.experimental_distribute_dataset(dataset)]
    show(name + " losses", losses)
    show(name + " kernel", run(kernel.read_value()))
    show(name + " bias", run(bias.read_value()))
