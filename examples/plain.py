"""The net on one device, without any strategy: the numbers to reach.

Plain TensorFlow, no tpudist. The other examples train the same net on the same
global batches on 8 cores, and must end with the same loss and accuracy.

    python examples/plain.py
"""

import argparse

import convnet
import digits
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()  # for TensorFlow 1.15


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--epochs", type=int, default=convnet.EPOCHS)
    options = options.parse_args()

    train, test = digits.load()
    weights = [tf.Variable(value) for value in convnet.initial_weights().values()]
    velocities = [tf.Variable(tf.zeros_like(weight)) for weight in weights]

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(convnet.losses(weights, images, labels))
        gradients = tape.gradient(loss, weights)
        for weight, velocity, gradient in zip(weights, velocities, gradients):
            velocity.assign(convnet.MOMENTUM * velocity + gradient)
            weight.assign_sub(convnet.RATE * velocity)
        return loss

    batches = tf.data.Dataset.from_tensor_slices(train).batch(convnet.BATCH)
    steps = options.epochs * digits.TRAIN // convnet.BATCH
    for step, (images, labels) in enumerate(batches.repeat(options.epochs), 1):
        loss = train_step(images, labels)
        digits.progress(step, steps, loss=float(loss))

    loss = tf.reduce_mean(convnet.losses(weights, *test))
    accuracy = tf.reduce_mean(convnet.hits(weights, *test))
    convnet.report(loss, accuracy)


if __name__ == "__main__":
    main()
