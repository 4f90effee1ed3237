"""What is trained in the benchmarks: three models, each with its optimizer.

A model is made inside a strategy's scope, or outside of any. It has
``variables``, an ``optimizer`` and ``losses(x, y)``, the loss of each example;
its class has ``batch(size, options)``, numpy arrays to train on.
"""

import os
import sys

import numpy as np
import tensorflow as tf

sys.path.insert(
    0,
    os.path.join(
        os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "examples"
    ),
)


def _cross_entropy(labels, logits):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


class Cnn:
    """The net of the examples, on the digits."""

    def __init__(self, options):
        import convnet

        del options
        self.variables = [tf.Variable(value) for value in convnet.initial_weights().values()]
        self.optimizer = tf.keras.optimizers.SGD(convnet.RATE, convnet.MOMENTUM)
        self._losses = convnet.losses

    def losses(self, x, y):
        """float32 ``[n]`` for images ``[n, 8, 8, 1]`` and labels ``[n]``."""
        return self._losses(self.variables, x, y)

    @staticmethod
    def batch(size, options):
        """`size` digits and their labels."""
        import digits

        (images, labels), _ = digits.load()
        return images[:size], labels[:size]


class Mlp:
    """`layers` matrices of `width` x `width`, with Adam."""

    def __init__(self, options):
        width, layers = options["width"], options["layers"]
        start = np.random.RandomState(0)
        self.variables = [
            tf.Variable(
                start.standard_normal((width, width)).astype(np.float32)
                / np.float32(np.sqrt(width))
            )
            for _ in range(layers)
        ]
        self.optimizer = tf.keras.optimizers.Adam(1e-3)

    def losses(self, x, y):
        """float32 ``[n]`` for rows ``[n, width]`` and labels ``[n]``."""
        for matrix in self.variables:
            x = tf.nn.relu(tf.matmul(x, matrix))
        return _cross_entropy(y, x)

    @staticmethod
    def batch(size, options):
        """`size` rows of numbers, and labels from 0 to 9."""
        random = np.random.RandomState(0)
        return (
            random.standard_normal((size, options["width"])).astype(np.float32),
            random.randint(10, size=size).astype(np.int32),
        )


class ResNet:
    """A Keras residual net: 3 stages of `blocks` blocks, with batch normalisation."""

    def __init__(self, options):
        layers = tf.keras.layers
        images = tf.keras.Input((16, 16, 3))
        x = _convolution(images, 16, 1)
        for stage in range(3):
            for block in range(options["blocks"]):
                stride = 2 if stage and not block else 1
                x = _residual(x, 16 * 2**stage, stride)
        x = layers.Dense(10)(layers.GlobalAveragePooling2D()(x))
        self._model = tf.keras.Model(images, x)
        self.variables = self._model.trainable_variables
        self.optimizer = tf.keras.optimizers.SGD(0.01, 0.9)

    def losses(self, x, y):
        """float32 ``[n]`` for images ``[n, 16, 16, 3]`` and labels ``[n]``."""
        return _cross_entropy(y, self._model(x, training=True))

    @staticmethod
    def batch(size, options):
        """`size` random images and labels."""
        random = np.random.RandomState(0)
        return (
            random.rand(size, 16, 16, 3).astype(np.float32),
            random.randint(10, size=size).astype(np.int32),
        )


def _convolution(x, filters, stride):
    layers = tf.keras.layers
    x = layers.Conv2D(filters, 3, stride, "same", use_bias=False)(x)
    return layers.ReLU()(layers.BatchNormalization()(x))


def _residual(x, filters, stride):
    layers = tf.keras.layers
    inner = _convolution(_convolution(x, filters, stride), filters, 1)
    if stride > 1 or x.shape[-1] != filters:
        x = layers.Conv2D(filters, 1, stride, "same", use_bias=False)(x)
    return layers.Add()([x, inner])


MODELS = {"cnn": Cnn, "mlp": Mlp, "resnet": ResNet}
