"""A case for every rule for ops on examples (rules/examples.py)."""

import functools

import numpy as np
import tensorflow as tf

from tests.virtual.vectorize.converted_cases import i, raw, u, v


def images(x):
    return tf.reshape(x, [2, 2, 2, 3])


def kernel(*shape):
    return tf.reshape(tf.range(np.prod(shape), dtype=tf.float32), shape) / 30


def _pooled(pool, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = pool(images(x), 2, 1, "SAME")
        loss = tf.reduce_sum(y**2)
    return y, tape.gradient(loss, x)


def _convolved(convolve, shape, x):
    weights = kernel(*shape)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = convolve(images(x), weights, [1, 1, 1, 1], "SAME") + 0.5
        loss = tf.reduce_sum(y**2)
    return y, tape.gradient(loss, x)


def _gradient(fn, *values):
    """The gradients of a sum of squares for the arguments of `fn`."""
    with tf.GradientTape() as tape:
        tape.watch(values)
        loss = tf.reduce_sum(fn(*values) ** 2)
    return tape.gradient(loss, values)


def _normalized(x):
    """What a LayerNormalization of Keras 2 does: every row is a channel of one image."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, *_ = tf.compat.v1.nn.fused_batch_norm(
            tf.reshape(x, [1, 4, 6, 1]), tf.ones([4]), x[:, 0], epsilon=1e-3, data_format="NCHW"
        )
        loss = tf.reduce_sum(tf.sin(y))
    return y, tape.gradient(loss, x)


def volumes(x):
    return v(x, 2, 4, 2, 2, 3)


def _pool(pool):
    return lambda x: pool(x, 2, 2, "SAME")


def _resized(x):
    resize = tf.compat.v1.image
    sizes = [
        functools.partial(resizer, size=size)
        for size in ([4, 4], [1, 3])
        for resizer in (
            resize.resize_bilinear,
            resize.resize_nearest_neighbor,
            resize.resize_bicubic,
        )
    ]
    return [[resizer(images(x)), _gradient(resizer, images(x))] for resizer in sizes]


def _reversed(x):
    lengths = i(x, 6, 4)
    return [
        tf.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0),
        tf.reverse_sequence(x, [1, 2, 3, 4], seq_axis=1, batch_axis=0),
        tf.reverse_sequence(u(4, 6), lengths, seq_axis=1, batch_axis=0),
    ]


def _transformed(x):
    """Images that are moved, each another way."""
    moves = tf.constant([[1.0, 0, 0, 0, 1, 0, 0, 0]] * 2) + v(x, 2, 8) * 0.2
    ops = {"ImageProjectiveTransformV2": ([2, 2],), "ImageProjectiveTransformV3": ([3, 2], 0.5)}
    return [
        raw(op_type, images(x), moves, *settings, interpolation="BILINEAR")
        for op_type, settings in ops.items()
        if op_type in dir(tf.raw_ops)
    ]


def _biases(x):
    return [
        raw("BiasAddGrad", x),
        raw("BiasAddGrad", images(x)),
        raw("BiasAddGrad", tf.cast(x, tf.float64)),
        raw("BiasAddGrad", images(x), data_format="NCHW"),
    ]


#: {name: function of x}
CASES = {
    "AvgPool": functools.partial(_pooled, tf.nn.avg_pool2d),
    "MaxPool": functools.partial(_pooled, tf.nn.max_pool2d),
    "Conv2D": functools.partial(_convolved, tf.nn.conv2d, (2, 2, 3, 5)),
    "Depthwise": functools.partial(_convolved, tf.nn.depthwise_conv2d, (2, 2, 3, 2)),
    "Conv3D": lambda x: tf.nn.conv3d(
        tf.reshape(x, [2, 2, 2, 1, 3]), kernel(1, 1, 1, 3, 2), [1] * 5, "SAME"
    ),
    "Resize": lambda x: [
        tf.compat.v1.image.resize_bilinear(images(x), [4, 4]),
        tf.compat.v1.image.resize_nearest_neighbor(images(x), [4, 4]),
    ],
    "Space": lambda x: tf.nn.depth_to_space(tf.nn.space_to_depth(images(x), 2), 2),
    "Resized": _resized,
    "Conv3D gradient": lambda x: _gradient(
        lambda y: tf.nn.conv3d(y, kernel(2, 1, 2, 3, 2), [1] * 5, "SAME"), volumes(x)
    ),
    "Pools of volumes": lambda x: [
        [pool(volumes(x)), _gradient(pool, volumes(x))]
        for pool in (_pool(tf.nn.max_pool3d), _pool(tf.nn.avg_pool3d))
    ],
    "MaxPoolV2": functools.partial(
        _pooled, lambda y, *_: raw("MaxPoolV2", y, [1, 2, 2, 1], [1] * 4, padding="SAME")
    ),
    "Normalized": lambda x: [
        tf.nn.local_response_normalization(images(x)),
        _gradient(tf.nn.local_response_normalization, images(x)),
    ],
    "Patches": lambda x: tf.image.extract_patches(
        images(x), [1, 2, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"
    ),
    "Reversed": _reversed,
    "Transformed": _transformed,
    "Biases": _biases,
    "FusedBatchNorm": _normalized,
}


def gradient(fn, *shape):
    """The gradient of a sum of squares for the weights of `fn`."""

    def gradient(x):
        weights = kernel(*shape)
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss = tf.reduce_sum(fn(x, weights) ** 2)
        return tape.gradient(loss, weights)

    return gradient


#: Functions of which only the sum over the replicas is needed.
SUMS = {
    "Conv2DBackpropFilter": gradient(
        lambda x, v: tf.nn.conv2d(images(x), v, 1, "VALID"), 2, 2, 3, 5
    ),
    "DepthwiseConv2dNativeBackpropFilter": gradient(
        lambda x, v: tf.nn.depthwise_conv2d(images(x), v, [1, 1, 1, 1], "SAME"), 2, 2, 3, 2
    ),
    "Conv3DBackpropFilterV2": gradient(
        lambda x, k: tf.nn.conv3d(volumes(x), k, [1] * 5, "VALID"), 2, 1, 2, 3, 2
    ),
}
