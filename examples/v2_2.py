"""Code of TensorFlow 2.2: `tf.function`, `strategy.run`, a Keras optimizer.

python examples/v2_2.py [--tpu virtual:8]
tpudist run --era 2.2 --tpu virtual:8 SCRIPT   if it says `import tensorflow as tf`
"""

import argparse

import convnet
import digits

from tpudist.v2_2 import tensorflow as tf

tf.compat.v1.enable_v2_behavior()  # for TensorFlow 1.15


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--tpu", default="virtual:8")
    options.add_argument("--epochs", type=int, default=convnet.EPOCHS)
    options = options.parse_args()

    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=options.tpu)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.experimental.TPUStrategy(resolver)
    print("Number of replicas:", strategy.num_replicas_in_sync)

    train, test = digits.load()
    with strategy.scope():
        weights = [tf.Variable(value) for value in convnet.initial_weights().values()]
        optimizer = tf.keras.optimizers.SGD(convnet.RATE, convnet.MOMENTUM)

    def train_step(images, labels):
        with tf.GradientTape() as tape:
            per_example = convnet.losses(weights, images, labels)
            loss = tf.reduce_sum(per_example) / convnet.BATCH
        gradients = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(gradients, weights))
        return loss

    def test_step(images, labels):
        return (convnet.losses(weights, images, labels), convnet.hits(weights, images, labels))

    @tf.function
    def distributed_train_step(images, labels):
        per_replica = strategy.run(train_step, args=(images, labels))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)

    @tf.function
    def distributed_test_step(images, labels):
        loss, hits = strategy.run(test_step, args=(images, labels))
        # 261 images on 8 cores: the mean over the images, not over the cores.
        return (
            strategy.reduce(tf.distribute.ReduceOp.MEAN, loss, axis=0),
            strategy.reduce(tf.distribute.ReduceOp.MEAN, hits, axis=0),
        )

    def distribute(arrays, batch, epochs=1):
        dataset = tf.data.Dataset.from_tensor_slices(arrays).batch(batch, drop_remainder=True)
        return strategy.experimental_distribute_dataset(dataset.repeat(epochs))

    batches = distribute(train, convnet.BATCH, options.epochs)
    steps = options.epochs * digits.TRAIN // convnet.BATCH
    for step, (images, labels) in enumerate(batches, 1):
        loss = distributed_train_step(images, labels)
        digits.progress(step, steps, loss=float(loss))

    for images, labels in distribute(test, len(test[0])):
        loss, accuracy = distributed_test_step(images, labels)
    convnet.report(loss, accuracy)


if __name__ == "__main__":
    main()
