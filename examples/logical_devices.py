"""Code of TensorFlow 2.2: each replica on two cores, with split, replicate and assign.

Four replicas of two logical devices each. The images are split by height, so
that each core convolves one half; both cores get the logits and the labels, and
the first one computes the loss. The annotations change no number.

    python examples/logical_devices.py [--tpu virtual:8]
"""

import argparse

import convnet
import digits

from tpudist.v2_2 import tensorflow as tf

tf.compat.v1.enable_v2_behavior()  # for TensorFlow 1.15


def connect(name):
    """A strategy of 4 replicas x 2 cores on the TPU of that name."""
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=name)
    tf.config.experimental_connect_to_cluster(resolver)
    topology = tf.tpu.experimental.initialize_tpu_system(resolver)
    device_assignment = tf.tpu.experimental.DeviceAssignment.build(
        topology, computation_shape=[1, 1, 2], num_replicas=4
    )
    return tf.distribute.experimental.TPUStrategy(resolver, device_assignment=device_assignment)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--tpu", default="virtual:8")
    options.add_argument("--epochs", type=int, default=convnet.EPOCHS)
    options = options.parse_args()

    strategy = connect(options.tpu)
    print("Number of replicas:", strategy.num_replicas_in_sync)
    train, test = digits.load()
    with strategy.scope():
        weights = [tf.Variable(value) for value in convnet.initial_weights().values()]
        optimizer = tf.keras.optimizers.SGD(convnet.RATE, convnet.MOMENTUM)

    def losses(images, labels):
        images = strategy.experimental_split_to_logical_devices(images, [1, 2, 1, 1])
        logits = strategy.experimental_replicate_to_logical_devices(convnet.logits(weights, images))
        labels = strategy.experimental_replicate_to_logical_devices(labels)
        per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return strategy.experimental_assign_to_logical_device(per_example, 0)

    def train_step(images, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(losses(images, labels)) / convnet.BATCH
        gradients = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(gradients, weights))
        return loss

    @tf.function
    def distributed_train_step(images, labels):
        per_replica = strategy.run(train_step, args=(images, labels))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)

    batches = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices(train)
        .batch(convnet.BATCH, drop_remainder=True)
        .repeat(options.epochs)
    )
    steps = options.epochs * digits.TRAIN // convnet.BATCH
    for step, (images, labels) in enumerate(batches, 1):
        loss = distributed_train_step(images, labels)
        digits.progress(step, steps, loss=float(loss))

    loss = tf.reduce_mean(convnet.losses(weights, *test))
    accuracy = tf.reduce_mean(convnet.hits(weights, *test))
    convnet.report(loss, accuracy)


if __name__ == "__main__":
    main()
