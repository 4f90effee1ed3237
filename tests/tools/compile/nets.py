"""Small nets whose sizes can be counted by hand."""

import numpy as np
import tensorflow as tf

from tests.tools.compile import harness
from tpudist.v2_2 import tensorflow as v2_2_tf

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN

#: Of :func:`dense`.
BATCH, INPUTS, OUTPUTS = 32, 256, 512


def _context():
    return tf.distribute.get_replica_context()


def _split(replicas, partitions):
    """A strategy on 8 virtual cores, or on some of them."""
    resolver = v2_2_tf.distribute.cluster_resolver.TPUClusterResolver(tpu="virtual:8")
    topology = v2_2_tf.tpu.experimental.initialize_tpu_system(resolver)
    return v2_2_tf.distribute.experimental.TPUStrategy(
        resolver,
        v2_2_tf.tpu.experimental.DeviceAssignment.build(
            topology, computation_shape=[1, partitions // 2, 1, 2], num_replicas=replicas
        ),
    )


def dense(replicas=8, partitions=1, annotate=None, reduced=1, outputs=OUTPUTS):
    """The program of one step of a linear layer with momentum.

    Args:
      replicas, partitions: of the program.
      annotate: called with (strategy, images, weight); returns both, annotated.
      reduced: how many all-reduces it asks for.
      outputs: of the layer.
    """
    strategy = _split(replicas, partitions) if partitions > 1 else harness.strategy(replicas)
    with strategy.scope():
        weight = tf.Variable(tf.ones([INPUTS, outputs]), name="weight")
        momentum = tf.Variable(tf.zeros([INPUTS, outputs]), name="momentum", trainable=False)

    def step(images):
        with tf.GradientTape() as tape:
            given, kernel = annotate(strategy, images, weight) if annotate else (images, weight)
            loss = tf.reduce_mean(tf.tanh(tf.matmul(given, kernel)))
        gradient = tape.gradient(loss, weight)
        for number in range(reduced):
            if number:  # what all replicas have alike need not be reduced
                gradient *= tf.reduce_mean(images)
            gradient = _context().all_reduce(MEAN, gradient)
        momentum.assign(0.9 * momentum + gradient)
        weight.assign_sub(0.1 * momentum)
        return loss

    return harness.lower(strategy, step, np.zeros([BATCH, INPUTS], "f"))


def convolution(replicas=8, batch=128, dtype=tf.float32):
    """The program of one step of an MNIST-like convolutional net with momentum.

    Args:
      replicas: of the program.
      batch: of one replica.
      dtype: of the activations.
    """
    strategy = harness.strategy(replicas)
    shapes = [
        ("convolution/kernel", [3, 3, 1, 32]),
        ("convolution/bias", [32]),
        ("dense/kernel", [14 * 14 * 32, 128]),
        ("dense/bias", [128]),
        ("output/kernel", [128, 10]),
    ]
    with strategy.scope():
        weights = [tf.Variable(tf.zeros(shape), name=name) for name, shape in shapes]
        moments = [
            tf.Variable(tf.zeros(shape), name=name + "/momentum", trainable=False)
            for name, shape in shapes
        ]

    def step(images, labels):
        with tf.GradientTape() as tape:
            kernel, bias, dense_kernel, dense_bias, output = [
                tf.cast(each.read_value(), dtype) for each in weights
            ]
            hidden = tf.nn.conv2d(tf.cast(images, dtype), kernel, 1, "SAME")
            hidden = tf.nn.max_pool2d(tf.nn.relu(hidden + bias), 2, 2, "SAME")
            hidden = tf.matmul(tf.reshape(hidden, [batch, -1]), dense_kernel)
            logits = tf.matmul(tf.nn.relu(hidden + dense_bias), output)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=labels, logits=tf.cast(logits, tf.float32)
                )
            )
        gradients = _context().all_reduce(MEAN, tape.gradient(loss, weights))
        for weight, moment, gradient in zip(weights, moments, gradients):
            moment.assign(0.9 * moment + gradient)
            weight.assign_sub(0.1 * moment)
        return loss

    return harness.lower(
        strategy,
        step,
        tf.TensorSpec([batch, 28, 28, 1], tf.float32),
        tf.TensorSpec([batch], tf.int32),
    )
