"""Functions with branches, loops and calls."""

import tensorflow as tf


def loop(x, w):
    return tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(y @ w) + x), (tf.constant(0), x)
    )[1]


def branch(x, w):
    return tf.cond(tf.reduce_sum(w) > 0, lambda: tf.nn.relu(x @ w), lambda: x @ w * 2)


def one_of_three(x, w):
    return tf.switch_case(
        tf.cast(w[1, 0] * 0 + 2, tf.int32),
        [lambda: x @ w, lambda: x @ w + x, lambda: tf.nn.tanh(x @ w)],
    )


def packed(x, w):
    """Branches that compute more than they give: their gradients need it, one more, one less."""
    number = tf.cast(tf.reduce_sum(w) * 0.0, tf.int32) + 1
    return tf.switch_case(
        number,
        [
            lambda: tf.sin(x) * 2.0,
            lambda: tf.sin(tf.tanh(x @ w)) * tf.exp(tf.sin(w[0])) * tf.sin(w[1] * x),
            lambda: tf.exp(tf.exp(tf.sin(w[0]))) * x,
        ],
    )


def branch_in_loop(x, w):
    def step(i, y):
        return i + 1, tf.cond(i < 1, lambda: tf.tanh(tf.sin(y) @ w), lambda: tf.exp(tf.sin(y)))

    return tf.while_loop(lambda i, y: i < 3, step, (tf.constant(0), x))[1]


def mapped(x, w):
    return tf.map_fn(lambda row: tf.tensordot(row, w, 1), x)


def called(x, w):
    return tf.function(lambda a, b: tf.tanh(a @ b))(x, w)


def nested(x, w):
    def step(i, y):
        return i + 1, tf.cond(i < 1, lambda: loop(y, w), lambda: y * 2.0)

    return tf.while_loop(lambda i, y: i < 2, step, (tf.constant(0), x))[1]


def swapped(x, w):
    """A loop whose variables change places."""
    return tf.while_loop(
        lambda i, a, b: i < 3,
        lambda i, a, b: (i + 1, b @ w, a),
        (tf.constant(0), tf.ones([4, 6]), x),
    )[2]


def array(x, w):
    """A list written by a loop, some of it the same for all."""

    def step(i, mine, everyones):
        return i + 1, mine.write(i, x[i] * 2.0), everyones.write(i, w[0] * tf.cast(i, tf.float32))

    _, mine, everyones = tf.while_loop(
        lambda i, a, b: i < 4,
        step,
        (
            tf.constant(0),
            tf.TensorArray(tf.float32, 4, element_shape=[6]),
            tf.TensorArray(tf.float32, 4, element_shape=[6]),
        ),
    )
    return mine.stack() @ w + everyones.stack()


FUNCTIONS = [
    loop,
    branch,
    one_of_three,
    packed,
    branch_in_loop,
    mapped,
    called,
    nested,
    swapped,
    array,
]


def until_large(x):
    """Replicas leave the loop at different times."""
    return tf.while_loop(
        lambda i, y, total: tf.reduce_sum(y) < 30.0,
        lambda i, y, total: (i + 1, y * 1.5, total + y[0]),
        (tf.constant(0), x, tf.zeros([6])),
    )


def late(i):
    """0 in the first rounds, 1 in the last; 2 for a replica that is done."""
    return tf.maximum(i - 2, 0)


def one_of_several(x, cores, shift):
    """Replicas take different branches of a switch, some by a number out of bounds."""
    number = tf.cast(x[0, 0] * cores, tf.int32) + shift
    return tf.switch_case(number, [lambda: x, lambda: x * 2, lambda: tf.zeros_like(x) - 1])


#: What fails for the counter of a replica that is done.
GUARDED = {
    "index": lambda x, i: x[i],
    "axis": lambda x, i: tf.reshape(tf.reduce_max(x, late(i)), [-1])[0] * x[1],
    "order": lambda x, i: tf.transpose(x[:, :4], tf.stack([late(i), 1 - late(i)]))[0, 0] * x[1],
    "shape": lambda x, i: tf.reshape(x, tf.stack([4 - i, -1]))[0, 0] * x[1],
    "pieces": lambda x, i: tf.split(x[:, :4], 2, late(i))[0][0, 0] * x[1],
    "repeated": lambda x, i: tf.tile(x[0], tf.reshape(4 - 2 * late(i), [1]))[0] * x[1],
    "one after the other": lambda x, i: tf.concat([x, x], late(i))[0, 0] * x[1],
    "gather": lambda x, i: tf.gather(x, i),
    "segments": lambda x, i: tf.math.unsorted_segment_sum(x, [0, 1, 2, i], 4)[3],
    "classes": lambda x, i: tf.nn.sparse_softmax_cross_entropy_with_logits([i], [x[0, :4]]) + x[1],
    "division": lambda x, i: x[1] * tf.cast(12 // (4 - i), tf.float32),
    "modulus": lambda x, i: x[1] * tf.cast(11 % (4 - i), tf.float32),
    "power": lambda x, i: x[1] * tf.cast(tf.constant(2) ** (3 - i), tf.float32),
    "inverse": lambda x, i: x[1] / tf.linalg.inv(tf.eye(2) * tf.cast(4 - i, tf.float32))[0, 0],
    "endless": lambda x, i: tf.while_loop(
        lambda k, y: k < 4, lambda k, y: (k + 4 - i, y + x[1]), (tf.constant(0), x[0])
    )[1],
}


#: {name: two branches}
BRANCHES = {
    "same shape": (lambda x: x * 2, lambda x: tf.zeros_like(x) - 1.0),
    "flipped": (lambda x: x[:, ::-1], lambda x: x),
    "scalars": (lambda x: tf.reduce_sum(x), lambda x: tf.constant(3.0)),
    "alike on all": (lambda x: tf.constant([1.0, 2.0]), lambda x: tf.constant([3.0, 4.0])),
    "several": (lambda x: (x, x[0]), lambda x: (-x, x[1] * 2)),
    "never a number": (lambda x: tf.math.log(x - 0.5), lambda x: x),
    "other shapes": (lambda x: x[:2], lambda x: x[:3]),
    "may fail": (lambda x: tf.gather(x, 5 - tf.cast(x[0, 0] * 6, tf.int32)), lambda x: x[0]),
}


@tf.custom_gradient
def checked(x):
    """A function whose gradient has an effect."""

    def gradient(dy):
        tf.debugging.assert_less(dy, 1e9)
        return dy * tf.cos(x * x)

    return tf.sin(x), gradient


#: {name: two branches with gradients}
DIFFERENTIABLE = {
    "other numbers of values": (
        lambda x, w: tf.tanh(tf.sin(x)) * w[:4],
        lambda x, w: tf.exp(tf.sin(tf.sin(x) * w[0])),
    ),
    "some alike on all": (lambda x, w: x * tf.exp(tf.sin(w[:4])), lambda x, w: tf.sin(x)),
    "broadcast": (lambda x, w: tf.sin(x) - tf.exp(x[:1]), lambda x, w: x[::-1] * 2.0),
    "in a call": (lambda x, w: tf.function(lambda y: tf.sin(tf.sin(y)))(x), lambda x, w: x),
    "costly": (lambda x, w: tf.sin(x @ w), lambda x, w: tf.exp(tf.sin(x))),
    "with an effect": (lambda x, w: checked(tf.exp(x)), lambda x, w: tf.exp(tf.sin(x))),
}


def _lstm(y, w, v, size):
    cell, gate = tf.split(y @ w, 2, 1)
    return tf.concat([tf.tanh(cell) * tf.sigmoid(gate), y[:, 3:]], 1) + v + y


def _attention(y, w, v, size):
    weights = tf.nn.softmax(tf.matmul(y, y @ w, transpose_b=True))
    return tf.matmul(weights, y) + tf.transpose(tf.reshape(v * y, [6, 4]))


def _norm(y, w, v, size):
    mean, variance = tf.nn.moments(y, [1], keepdims=True)
    return tf.nn.batch_normalization(y, mean, variance, v, w[0], 1e-3) + y * 1.2


def _no_number(y, w, v, size):
    """Neither for a replica that is done, nor its gradients."""
    room = tf.math.log(5.0 - size)
    return tf.tanh(y) + room * tf.exp(tf.sin(y)) @ w * 0.1 + tf.sqrt(5.5 - size) * v


def _convolution(y, w, v, size):
    convolved = tf.nn.conv2d(tf.reshape(y, [1, 4, 6, 1]), tf.reshape(w, [3, 3, 1, 4]), 1, "SAME")
    return y + tf.reduce_sum(tf.nn.relu(convolved), [0, 3]) + v


#: A round of a loop that replicas leave at different times, for `y`, weights and its size.
ROUNDS = {
    "dense": lambda y, w, v, size: tf.nn.bias_add(tf.tanh(y @ w), v) + y * 1.1,
    "lstm": _lstm,
    "attention": _attention,
    "norm": _norm,
    "no number": _no_number,
    "convolution": _convolution,
    "largest": lambda y, w, v, size: (
        y + tf.reduce_max(tf.abs(y @ w), 0) / tf.reduce_mean(y * v + 2.0)
    ),
    "weights decay": lambda y, w, v, size: y + tf.reduce_sum(w * w) + 0.1 * tf.reduce_sum(v) * y,
}


def until_large_or_done(fn, x, w, v):
    """How many rounds a replica does, what it has then, and the sum of what it had."""
    return tf.while_loop(
        lambda i, y, size, total: (i < 6) & (size < 5.0),
        lambda i, y, size, total: (
            i + 1,
            fn(y, w, v, size),
            size * 1.7,
            total + tf.reduce_sum(y) + tf.reduce_sum(tf.sin(w)),
        ),
        (tf.constant(0), x, tf.reduce_max(x), tf.constant(0.0)),
    )


def _rounds(body, *start):
    """What a loop of 0 to 5 rounds, another number on each replica, makes of `start`."""

    def of_replica(x, w):
        rounds = tf.cast(x[0, 0] * 6.0, tf.int32)
        values = [tf.constant(0), *[value(x) for value in start]]
        return tf.while_loop(lambda i, *_: i < rounds, body(x, w), values)

    return of_replica


def _array(size=6):
    return tf.TensorArray(tf.float32, size, element_shape=[6])


#: {name: a function of `x` and weights with a loop that replicas leave at different times}
LEFT = {
    "writes": lambda x, w: _rounds(
        lambda x, w: (
            lambda i, a: (
                i + 1,
                a.write(2 * (i % 3), tf.linalg.matvec(w, x[0])).write(1, x[1] * w[i]),
            )
        ),
        lambda x: _array(),
    )(x, w)[1].stack(),
    "reads": lambda x, w: _rounds(
        lambda x, w: (
            lambda i, y, a: (i + 1, tf.sin(a.read(i % 4)) + a.read(3 - i % 4) * y * w[0], a)
        ),
        lambda x: x[0],
        lambda x: _array(4).unstack(x * 2.0),
    )(x, w)[1],
    "alike on all": lambda x, w: (
        _rounds(lambda x, w: lambda i, a: (i + 1, a.write(i, w[i])), lambda x: _array())(x, w)[
            1
        ].stack()
        * x[0]
    ),
    "swapped": lambda x, w: _rounds(
        lambda x, w: lambda i, a, b: (i + 1, b @ w, a), lambda x: tf.ones([4, 6]), lambda x: x
    )(x, w)[2],
    "weights change": lambda x, w: _rounds(
        lambda x, w: lambda i, v, y: (i + 1, tf.tanh(v @ w), y + v[:4] * x),
        lambda x: tf.ones([6, 6]),
        lambda x: x,
    )(x, w)[2],
    "a table": lambda x, w: _rounds(
        lambda x, w: (
            lambda i, y: (
                i + 1,
                tf.tanh(y @ w) + tf.gather(w, [tf.cast(x[1, 1] * 6, tf.int32), i])[0],
            )
        ),
        lambda x: x,
    )(x, w)[1],
    "signs": lambda x, w: _rounds(lambda x, w: lambda i, y: (i + 1, -y @ w - x), lambda x: x)(x, w)[
        1
    ],
    "a loop in it": lambda x, w: _rounds(
        lambda x, w: lambda i, y: (i + 1, loop(y, w)), lambda x: x
    )(x, w)[1],
    "another start": lambda x, w: tf.while_loop(
        lambda i, y: i < 5,
        lambda i, y: (i + 1, tf.tanh(y @ w)),
        (tf.cast(x[0, 0] * 6.0, tf.int32), x),
    )[1],
}
