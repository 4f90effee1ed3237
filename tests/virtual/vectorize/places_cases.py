"""A case for every rule of rules/gathers.py: gathers, scatters and segments."""

import tensorflow as tf

from tests.virtual.vectorize.converted_cases import i, raw, u, v


def _order(x, *shape):
    """Indices of a vector, each once, in an order that differs between replicas."""
    return tf.argsort(v(x, *shape))


def _gradient(fn, x):
    return tf.convert_to_tensor(tf.gradients(tf.reduce_sum(fn(x) ** 2), x)[0])


def _gathers(x):
    return [
        tf.gather(u(6, 2), i(x, 6, 3)),
        tf.gather(u(6, 2), i(x, 6, 3)[0]),
        tf.gather(u(2, 6), i(x, 6, 3), axis=1),
        tf.gather(u(2, 6, 3), i(x, 6, 2, 2), axis=-2),
        tf.gather(u(4, 6), i(x, 6, 4, 2), batch_dims=1),
        tf.gather(x, i(x, 4, 3)),
        tf.gather(x, i(x, 4, 2, 2)),
        tf.gather(x, i(x, 4, 3)[1]),
        tf.gather(x, [2, 0], axis=1),
        tf.gather(x, i(x, 6, 3), axis=-1),
        tf.gather(x, i(x, 6, 4, 2), batch_dims=1),
        tf.gather(x, i(x, 6, 4, 2), batch_dims=-1),
        tf.gather(x, [[0, 5], [1, 4], [2, 3], [3, 3]], batch_dims=1),
        tf.gather(v(x, 2, 3, 4), i(x, 4, 2, 2), axis=2, batch_dims=1),
        _gradient(lambda x: tf.gather(x, i(x, 4, 3)), x),
        _gradient(lambda x: tf.gather(x, [2, 0], axis=1), x),
        _gradient(lambda x: tf.gather(x, i(x, 6, 4, 2), batch_dims=1), x),
    ]


def _segments(op_type, x):
    return [
        raw(op_type, x, _order(x, 4), 4),
        raw(op_type, x, i(x, 3, 4), 3),
        raw(op_type, x, i(x, 4, 4) - 1, 5),
        raw(op_type, x, i(x, 5, 4, 6), 5),
        raw(op_type, x, [1, 0, 1, 4], 5),
        raw(op_type, u(4, 6), i(x, 3, 4), 3),
        raw(op_type, x, tf.cast(i(x, 3, 4), tf.int64), tf.constant(3, tf.int64)),
    ]


def _scatters(x):
    pairs = tf.stack([_order(x, 4), i(x, 3, 4)], 1)
    return [
        tf.scatter_nd(_order(x, 4)[:, None], x, [5, 6]),
        tf.scatter_nd(i(x, 3, 4, 1), x, [3, 6]),
        tf.scatter_nd(i(x, 3, 2, 2, 2), x[:2, :2], [3, 3]),
        tf.scatter_nd([[1], [0], [1], [4]], x, [5, 6]),
        tf.scatter_nd(pairs, u(4), [4, 3]),
        _gradient(lambda x: tf.gather_nd(x, pairs), x),
        _gradient(lambda x: tf.math.top_k(x, 3)[0], x),
        _gradient(lambda x: tf.sort(x), x),
    ]


def _into(op_type, x):
    pairs = tf.stack([_order(x, 4), i(x, 3, 4)], 1)
    return [
        raw(op_type, x, _order(x, 4)[:2, None], 1 - x[:2]),
        raw(op_type, x, [[3], [1]], 1 - x[:2]),
        raw(op_type, x, pairs, u(4)),
        raw(op_type, u(4, 6), pairs, x[:, 0]),
    ]


_SEGMENTS = "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum".split()
_INTO = """TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub
TensorScatterUpdate""".split()

#: {name: function of x}
CASES = {
    "gathers": _gathers,
    "segments": lambda x: [_segments(op_type, x) for op_type in _SEGMENTS],
    "scatters": _scatters,
    "scatters into": lambda x: [_into(each, x) for each in _INTO if each in dir(tf.raw_ops)],
}
