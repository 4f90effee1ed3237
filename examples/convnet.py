"""The one small convolutional net of all examples, and what they train it with.

Plain TensorFlow operations only, so that code of every era can call it: it
works on TensorFlow 1.15 and on the newest. The first weights come from numpy,
the batches are always the same ones in the same order: whoever trains this net
with these numbers gets the same losses.
"""

import collections

import numpy as np
import tensorflow as tf

BATCH = 256  # images in a global batch; 32 for each of 8 cores
RATE = 0.03  # learning rate
MOMENTUM = 0.9
EPOCHS = 20  # of six global batches each

_SHAPES = collections.OrderedDict(
    [
        ("conv1/kernel", (3, 3, 1, 32)),
        ("conv1/bias", (32,)),
        ("conv2/kernel", (3, 3, 32, 64)),
        ("conv2/bias", (64,)),
        ("dense/kernel", (4 * 4 * 64, 10)),
        ("dense/bias", (10,)),
    ]
)


def initial_weights():
    """The weights that training starts from.

    Returns:
      An ordered dict from name to a float32 array: He-initialised kernels of
      two 3 x 3 convolutions and a dense layer, and zeros for their biases.
    """
    random = np.random.RandomState(1)
    return collections.OrderedDict(
        (name, _initial(random, shape)) for name, shape in _SHAPES.items()
    )


def _initial(random, shape):
    if len(shape) == 1:
        return np.zeros(shape, np.float32)
    scale = np.sqrt(2.0 / np.prod(shape[:-1]))
    return (scale * random.standard_normal(shape)).astype(np.float32)


def logits(weights, images):
    """The net's answer to some images.

    Args:
      weights: six variables or tensors, in the order of `initial_weights`.
      images: float32 ``[n, 8, 8, 1]``, from 0 to 1.

    Returns:
      float32 ``[n, 10]``: one logit for each digit.
    """
    kernel1, bias1, kernel2, bias2, kernel3, bias3 = weights
    hidden = tf.nn.elu(_convolve(images, kernel1) + bias1)
    hidden = tf.nn.elu(_convolve(hidden, kernel2) + bias2)
    hidden = tf.nn.max_pool(hidden, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    return tf.matmul(tf.reshape(hidden, [-1, 4 * 4 * 64]), kernel3) + bias3


def _convolve(images, kernel):
    return tf.nn.conv2d(images, kernel, [1, 1, 1, 1], "SAME")


def losses(weights, images, labels):
    """The cross entropy of each image, float32 ``[n]``; `labels` int32 ``[n]``."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits(weights, images)
    )


def hits(weights, images, labels):
    """1.0 for each image whose digit the net finds, else 0.0: float32 ``[n]``."""
    found = tf.argmax(logits(weights, images), 1)
    return tf.cast(tf.equal(tf.cast(found, tf.int32), labels), tf.float32)


def report(loss, accuracy):
    """Prints the last line of every example, which `run_all.py` reads."""
    print("final loss=%.7f accuracy=%.4f" % (loss, accuracy))
