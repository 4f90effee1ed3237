"""Code of TensorFlow 2.0: `experimental_run_v2`, and Keras metrics.

An epoch is one `tf.function` with a loop of steps.

    python examples/v2_0.py [--tpu virtual:8]
    tpudist run --era 2.0 --tpu virtual:8 SCRIPT   if it says `import tensorflow as tf`
"""

import argparse

import convnet
import digits

from tpudist.v2_0 import tensorflow as tf

tf.compat.v1.enable_v2_behavior()  # for TensorFlow 1.15

STEPS = digits.TRAIN // convnet.BATCH  # in an epoch


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--tpu", default="virtual:8")
    options.add_argument("--epochs", type=int, default=convnet.EPOCHS)
    options = options.parse_args()

    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=options.tpu)
    tf.config.experimental_connect_to_host(resolver.master())
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.experimental.TPUStrategy(resolver)
    print("Number of replicas:", strategy.num_replicas_in_sync)
    train, test = digits.load()

    with strategy.scope():
        weights = [tf.Variable(value) for value in convnet.initial_weights().values()]
        optimizer = tf.keras.optimizers.SGD(convnet.RATE, convnet.MOMENTUM)
        test_loss = tf.keras.metrics.Mean()
        accuracy = tf.keras.metrics.Mean()

        def train_step(inputs):
            images, labels = inputs
            with tf.GradientTape() as tape:
                per_example = convnet.losses(weights, images, labels)
                loss = tf.reduce_sum(per_example) / convnet.BATCH
            gradients = tape.gradient(loss, weights)
            optimizer.apply_gradients(zip(gradients, weights))
            return loss

        def test_step(inputs):
            test_loss.update_state(convnet.losses(weights, *inputs))
            accuracy.update_state(convnet.hits(weights, *inputs))

        @tf.function
        def distributed_train_epoch(iterator):
            total_loss = 0.0
            for _ in tf.range(STEPS):
                per_replica = strategy.experimental_run_v2(train_step, args=(next(iterator),))
                total_loss += strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)
            return total_loss / STEPS

        @tf.function
        def distributed_test_step(inputs):
            strategy.experimental_run_v2(test_step, args=(inputs,))

        def distribute(arrays, batch):
            dataset = tf.data.Dataset.from_tensor_slices(arrays).repeat()
            return iter(
                strategy.experimental_distribute_dataset(dataset.batch(batch, drop_remainder=True))
            )

        batches = distribute(train, convnet.BATCH)
        for epoch in range(1, options.epochs + 1):
            loss = distributed_train_epoch(batches)
            digits.progress(epoch, options.epochs, loss=float(loss))

        # 261 images on 8 cores: the metrics count images, not cores.
        distributed_test_step(next(distribute(test, len(test[0]))))
    convnet.report(test_loss.result(), accuracy.result())


if __name__ == "__main__":
    main()
