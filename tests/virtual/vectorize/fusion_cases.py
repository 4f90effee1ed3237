"""Programs with what TensorFlow's optimizer fuses or rewrites, by the pass and its pattern.

The patterns are those of ``tensorflow/core/grappler/optimizers/remapper.cc`` (1.15 to 2.21), and
of the arithmetic optimizer what rewrites stacks, slices, broadcasts, transposes and factors.
"""

import numpy as np
import tensorflow as tf


def c(*shape):
    """Numbers that are the same for every replica."""
    return tf.constant(np.random.RandomState(len(shape)).uniform(-1, 1, shape).astype(np.float32))


def _seen(x, *shape):
    """The numbers of `x`, [rows, 24], in a shape of each row."""
    return tf.reshape(x, [x.shape[0], *shape])


ACTIVATIONS = {
    "none": lambda x: x,
    "relu": tf.nn.relu,
    "relu6": tf.nn.relu6,
    "elu": tf.nn.elu,
    "leaky": lambda x: tf.nn.leaky_relu(x, 0.3),
    "tanh": tf.tanh,
    "sigmoid": tf.sigmoid,
    "swish": lambda x: x * tf.sigmoid(x),
    "mish": lambda x: x * tf.tanh(tf.math.softplus(x)),
    "gelu": lambda x: 0.5 * x * (1.0 + tf.math.erf(x / np.sqrt(2.0).astype(np.float32))),
    "gelu by tanh": lambda x: (
        0.5 * x * (1.0 + tf.tanh(np.float32(0.7978846) * (x + 0.044715 * x * x * x)))
    ),
}

#: What a contraction gives, of `x`, [rows, 24].
CONTRACTIONS = {
    "MatMul": lambda x: x @ c(24, 4),
    "BatchMatMul": lambda x: _seen(x, 3, 8) @ c(8, 4),
    "BatchMatMul of heads": lambda x: _seen(x, 1, 3, 8) @ c(1, 1, 8, 4),
    "BatchMatMul of one": lambda x: _seen(x, 1, 24) @ c(1, 24, 4),
    "BatchMatMul of many": lambda x: _seen(x, 3, 2, 4) @ c(3, 4, 4),
    "scaled": lambda x: _seen(x, 3, 2, 4) @ _seen(x * 2, 3, 4, 2) * 0.5,
    "Conv2D": lambda x: tf.nn.conv2d(_seen(x, 4, 2, 3), c(2, 2, 3, 4), 1, "SAME"),
    "Conv2D of one": lambda x: tf.nn.conv2d(_seen(x, 1, 1, 24), c(1, 1, 24, 4), 1, "SAME"),
    "padded": lambda x: tf.nn.conv2d(
        tf.pad(_seen(x, 4, 2, 3), [[0, 0], [1, 1], [1, 1], [0, 0]]), c(3, 3, 3, 4), 1, "VALID"
    ),
    "DepthwiseConv2D": lambda x: tf.nn.depthwise_conv2d(
        _seen(x, 3, 4, 2), c(2, 2, 2, 2), [1, 1, 1, 1], "SAME"
    ),
    "Conv3D": lambda x: tf.nn.conv3d(
        tf.pad(_seen(x, 2, 2, 2, 3), [[0, 0], [1, 0], [1, 0], [1, 0], [0, 0]]),
        c(2, 2, 2, 3, 4),
        [1] * 5,
        "VALID",
    ),
    "squeezed": lambda x: tf.squeeze(
        tf.nn.conv2d(_seen(x, 1, 8, 3), c(1, 2, 3, 4), 1, "SAME"), axis=[1]
    ),
}

#: What is added to it. "same": more of its shape; "own": what each replica has for itself.
BIASES = {
    "bias": lambda y, x: tf.nn.bias_add(y, c(y.shape[-1])),
    "add": lambda y, x: y + c(y.shape[-1]),
    "add ones": lambda y, x: c(*[1] * (len(y.shape) - 1), y.shape[-1]) + y,
    "reshaped": lambda y, x: (
        tf.reshape(y, y.shape[:-1] + [2, y.shape[-1] // 2]) + c(2, y.shape[-1] // 2)
    ),
    "same": lambda y, x: tf.nn.bias_add(y, c(y.shape[-1])) + tf.sin(y),
    "own": lambda y, x: y + tf.reduce_mean(x),
    "own bias": lambda y, x: y + x[0, : y.shape[-1]],
}


def _contracted(contraction):
    """A contraction with each bias and activation."""

    def fn(x):
        y = CONTRACTIONS[contraction](x)
        biased = [
            add(y, x) for name, add in BIASES.items() if y.shape[-1] % 2 == 0 or name != "reshaped"
        ]
        made = biased[1:] + [act(biased[0]) for act in ACTIVATIONS.values()]
        return made + [act(biased[1]) for act in ACTIVATIONS.values()] + [y @ c(y.shape[-1], 3)]

    return fn


def _normalised(x, axes, shape):
    mean, variance = tf.nn.moments(x, axes, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-3) * c(*shape) + c(*shape)


def _batch_norm(x):
    mean, variance = c(4), tf.abs(c(4)) + 1
    return [
        tf.nn.relu(tf.nn.batch_normalization(y, mean, variance, c(4), c(4), 1e-3))
        for y in (x @ c(24, 4), tf.nn.conv2d(_seen(x, 4, 2, 3), c(2, 2, 3, 4), 1, "SAME"))
    ] + [
        act(
            tf.compat.v1.nn.fused_batch_norm(
                tf.nn.conv2d(_seen(x, 4, 2, 3), c(2, 2, 3, 4), 1, "SAME"),
                *[c(4), c(4), mean, variance],
                is_training=False,
            )[0]
        )
        for act in ACTIVATIONS.values()
    ]


def _attention(x):
    q, k = _seen(x, 2, 3, 4), _seen(x + 1, 2, 3, 4)
    mask = tf.cast(x[:, None, None, :3] > 0.5, tf.float32) * -1e3
    scores = tf.matmul(q, k, transpose_b=True) * 0.5
    one = tf.matmul(_seen(x, 1, 1, 24), _seen(x, 1, 1, 24), transpose_b=True) * 0.5
    return [
        tf.nn.softmax(scores + mask) @ k,
        tf.nn.softmax(scores + c(1, 1, 3, 3)) @ k,
        tf.matmul(q, k, transpose_b=True) / 2.0 + mask[:1],
        one + x[:, None, None, :1],
    ]


def _norms(x):
    return [
        _normalised(_seen(x, 3, 8), [-1], (8,)),
        _normalised(_seen(x, 1, 24), [-1], (24,)),
        _normalised(x, [-1], (24,)),
        _normalised(_seen(x, 2, 3, 4), [1, 2], (4,)),
        _normalised(_seen(x, 1, 2, 3, 4), [2, 3], (4,)),
        _normalised(_seen(x, 4, 2, 3), [2, 3], (1, 1)),
        _normalised(_seen(x, 2, 3, 4), [0, 1, 2], (4,)),
        _normalised(x, [0], (24,)),
    ]


def _stacked(x):
    """What is the same for every replica meets what is not, by the second output of an op."""
    place = tf.cast(x[:1, :1] * 3, tf.int32)
    table, indices = tf.nn.top_k(tf.sin(c(24, 4) * 9), 3)
    parts = tf.unstack(c(4, 3), axis=1)
    return [
        tf.tensor_scatter_nd_add(parts[2], place, [1.0]),
        tf.tensor_scatter_nd_add(tf.cast(indices, tf.float32), place, tf.ones([1, 3])),
        tf.stack([parts[1], parts[1]]) * x[0, 0],
        tf.stack([tf.unstack(x, axis=1)[2]] * 3),
        tf.stack([tf.unstack(x, axis=1)[2]] * 3, 1),
        tf.concat([tf.split(x, 3, 1)[2]] * 2, 1),
        tf.gather(tf.split(c(6, 4), 2)[1], place[0]) + tf.reduce_sum(table),
    ]


def _arithmetic(x):
    y, z = tf.sin(x), tf.cos(x)
    return [
        tf.add_n([x * y, x * z, x * 0.5]),
        tf.add_n([x[0], c(24), y[0]]),
        (x + 1.0) + (y + c(24)) + c(1, 24),
        (x * 2.0) * (y * c(24)) * 0.5,
        tf.stack([x, y, z], 1)[:, 1],
        tf.stack([x, y, z], 1)[:, :1],
        tf.transpose(tf.transpose(_seen(x, 4, 6), [0, 2, 1]), [0, 2, 1]),
        tf.matmul(tf.transpose(_seen(x, 4, 6), [0, 2, 1]), _seen(y, 4, 6)),
        tf.matmul(tf.transpose(x), y),
        tf.reshape(tf.reshape(x, [-1, 4]), [-1, 24]),
        tf.reduce_max(tf.exp(x), 1) + tf.reduce_min(-x, 1) + tf.reduce_max(tf.math.rsqrt(x), 1),
        tf.nn.max_pool2d(tf.nn.relu(_seen(x - 0.5, 4, 2, 3)), 2, 1, "SAME"),
        tf.argmax(tf.sigmoid(-x), 1),
        tf.square(x - y) + tf.pow(x, 2.0) + tf.pow(x, 0.5) + tf.pow(x, -1.0),
        tf.sqrt(x) / tf.sqrt(y) + y / tf.sqrt(x) + tf.math.log(tf.nn.softmax(x)),
        tf.cast(tf.cast(_seen(x, 4, 6), tf.float64)[:, :2], tf.float32),
        tf.tile(x, [1, 1]) + tf.broadcast_to(x[:1], x.shape) + tf.pad(x, [[0, 0], [0, 0]]),
        tf.negative(-x)
        + 1.0 / (1.0 / x)
        + tf.identity(tf.stop_gradient(x))
        + 0.0 * x
        + tf.math.conj(x),
    ]


CASES = {
    **{name: _contracted(name) for name in CONTRACTIONS},
    "batch norm": _batch_norm,
    "attention": _attention,
    "norms": _norms,
    "stacked": _stacked,
    "arithmetic": _arithmetic,
}
