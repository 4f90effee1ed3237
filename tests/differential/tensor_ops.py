"""Ops without effects, and Keras layers, that programs are drawn from.

Each op is a function from a float32 ``[2, 3]`` tensor to another.
"""

import tensorflow as tf

_TABLE = [[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]]


def matrix(number, identifier):
    """The replica's number as a matrix of small numbers."""
    return tf.tanh(number * 0.01) * tf.constant(_TABLE) + identifier * 0.125


def _loop(x):
    return tf.while_loop(
        lambda i, _: i < 2, lambda i, y: (i + 1, tf.tanh(y) + x * 0.5), [tf.constant(0), x]
    )[1]


def _gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sin(x) * tf.nn.softmax(x))
    return tape.gradient(y, x)


def _gradient_of_a_loop(x):
    """Replicas leave the loop at different times; a tape does not see the loops of TensorFlow 1."""
    _, y = tf.while_loop(
        lambda i, y: (i < 4) & (tf.reduce_max(tf.abs(y)) < 1.5),
        lambda i, y: (i + 1, tf.sin(y) + y * 0.75 + x * 0.5),
        [tf.constant(0), x],
    )
    (gradient,) = tf.compat.v1.gradients(tf.reduce_sum(y * y), x)
    return tf.tanh(gradient)


def _masked(x):
    return x + tf.reduce_sum(tf.boolean_mask(x, x[:, 0] > x[:, 1]))


OPS = {
    "cast": lambda x: tf.cast(tf.cast(x * 4.0, tf.int32), tf.float32),
    "concat": lambda x: tf.concat(tf.split(x, 3, 1)[::-1], 1),
    "cond": lambda x: tf.cond(x[0, 0] > 0.0, lambda: x * 2.0, lambda: x - 1.0),
    "conv": lambda x: tf.nn.conv1d(x[:, :, None], tf.ones([2, 1, 1]), 1, "SAME")[:, :, 0],
    "cumsum": lambda x: tf.cumsum(x, 1),
    "einsum": lambda x: tf.einsum("ij,kj->ik", x, x) @ x * 0.1,
    "gather": lambda x: tf.gather(x, [1, 0]),
    "gather own": lambda x: tf.gather(x, tf.cast(x[:, 0] > 0.0, tf.int32)),
    "gradient": _gradient,
    "gradient of a loop": _gradient_of_a_loop,
    "loop": _loop,
    "map": lambda x: tf.map_fn(lambda row: row - tf.reduce_mean(row), x),
    "masked": _masked,
    "normalized": lambda x: x / tf.sqrt(tf.reduce_sum(x * x, 1, keepdims=True) + 1.0),
    "one hot": lambda x: tf.one_hot(tf.argmax(x, 1), 3) + x,
    "pad": lambda x: tf.pad(x, [[1, 0], [0, 1]])[:2, 1:],
    "reverse": lambda x: tf.reverse(x, [1]),
    "scatter": lambda x: tf.scatter_nd([[1], [0]], x, [2, 3]),
    "segments": lambda x: tf.math.unsorted_segment_sum(x, [1, 1], 2),
    "shapes": lambda x: tf.reshape(tf.tile(tf.transpose(x), [1, 2])[:, :2], tf.shape(x)),
    "softmax": tf.nn.softmax,
    "sort": lambda x: tf.sort(x, 1),
    "stack": lambda x: tf.stack(tf.unstack(x, axis=1)[::-1], 1),
    "top k": lambda x: tf.math.top_k(x, 3)[0],
    "where": lambda x: tf.where(x > 0.0, x, x * 0.5),
}


def _ones():
    return tf.keras.initializers.Constant(0.25)


#: {name: (makes the layer, calls it on a matrix)}
LAYERS = {
    "dense": (
        lambda: tf.keras.layers.Dense(2, kernel_initializer=_ones()),
        lambda layer, x: layer(x),
    ),
    "batch norm": (
        tf.keras.layers.BatchNormalization,
        lambda layer, x: layer(x, training=True) + layer(x, training=False),
    ),
    "embedding": (
        lambda: tf.keras.layers.Embedding(4, 2, embeddings_initializer=_ones()),
        lambda layer, x: layer(tf.cast(x > 0.0, tf.int32)),
    ),
    "convolution": (
        lambda: tf.keras.layers.Conv1D(2, 2, kernel_initializer=_ones()),
        lambda layer, x: layer(x[None]),
    ),
    "lstm": (
        lambda: tf.keras.layers.LSTM(2, kernel_initializer=_ones(), recurrent_initializer=_ones()),
        lambda layer, x: layer(x[None]),
    ),
}


def built(name):
    """A layer that has its variables; call it in the strategy's scope."""
    make, call = LAYERS[name]
    layer = make()
    call(layer, tf.zeros([2, 3]))
    return layer
