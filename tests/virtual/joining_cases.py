"""A function for every batching rule, and sums of which only the total is wanted."""

import functools

import numpy as np
import tensorflow as tf

from tests.virtual import converted_cases
from tests.virtual.converted_cases import raw
from tpudist.virtual.batching_rules import elementwise

_BOOLEAN = ("LogicalAnd", "LogicalOr", "LogicalNot")
_INTEGER = ("BitwiseAnd", "BitwiseOr", "Invert", "Mod", "TruncateDiv")
#: {op type: what it is given instead of `x`, from 0.1 to 0.9, for its results to differ}
_GIVEN = {
    "Acosh": lambda x: x + 1,
    "Ceil": lambda x: x * 4,
    "Equal": lambda x: tf.floor(x * 4),
    "Floor": lambda x: x * 4,
    "IsFinite": lambda x: tf.math.log(x - 0.5),
    "IsInf": lambda x: (x - 0.5) / tf.floor(x * 3),
    "IsNan": lambda x: tf.math.log(x - 0.5),
    "NotEqual": lambda x: tf.floor(x * 4),
    "Sign": lambda x: x - 0.5,
}


def _typed(op_type, x):
    if op_type in _BOOLEAN:
        return x > 0.5
    if op_type in _INTEGER:
        return tf.cast(x * 100, tf.int32)
    return _GIVEN.get(op_type, lambda x: x)(x)


def _unary(op_type, x):
    x = _typed(op_type, x)
    return raw(op_type, x, **({"DstT": tf.int32} if op_type == "Cast" else {}))


def _binary(op_type, x):
    """Rows with rows, with one row, with a number, and with another rank."""
    x = _typed(op_type, x)
    if op_type == "SelectV2":
        return [
            raw(op_type, x > 0.5, x, tf.zeros([])),
            raw(op_type, x[:, :1] > 0.5, x, tf.ones([6])),
        ]
    return [
        raw(op_type, x, x),
        raw(op_type, x, w(x)),
        raw(op_type, w(x), x),
        raw(op_type, x, w(x)[0]),
        raw(op_type, x, x[:1]),
        raw(op_type, tf.tile(w(x)[:4, None], [1, 6]), x),
        raw(op_type, tf.reshape(x, [4, 1, 6]), x),
    ]


def w(x):
    """Six values that are the same for every replica, of the dtype of `x`."""
    return tf.cast(tf.constant([1, 2, 3, 1, 2, 3]), x.dtype)


def _same(op_type, x):
    if op_type == "AddN":
        return [
            tf.add_n([x, 2 * x]),
            tf.add_n([x, tf.ones([4, 6])]),
            tf.add_n([tf.reduce_sum(x), tf.constant(1.0)]),
        ]
    return [
        raw(op_type, x, 2 * x),
        raw(op_type, tf.ones([4, 6]), x),
        raw(op_type, tf.reduce_sum(x), tf.constant(0.5)),
    ]


def images(x):
    return tf.reshape(x, [2, 2, 2, 3])


def kernel(*shape):
    return tf.reshape(tf.range(np.prod(shape), dtype=tf.float32), shape) / 30


def labels(x):
    return tf.cast(x[:, 0] * 6, tf.int32)


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


@functools.lru_cache()
def _table():
    """Numbers of some keys."""
    with tf.init_scope():
        keys, values = tf.constant([0, 1, 2, 4]), tf.constant([0.5, 0.25, 3.0, -1.0])
        initializer = tf.lookup.KeyValueTensorInitializer(keys, values)
        return tf.lookup.StaticHashTable(initializer, 7.0)


def looked_up(keys):
    """What a table has for keys, some of which it has not."""
    return _table().lookup(keys)


CASES = {
    "LookupTableFindV2": lambda x: [
        looked_up(labels(x)) * 2,
        looked_up(labels(x)[0]),
        looked_up(tf.cast(x * 6, tf.int32)),
        tf.cast(_table().size(), tf.float32) * x,
    ],
    "AvgPool": functools.partial(_pooled, tf.nn.avg_pool2d),
    "MaxPool": functools.partial(_pooled, tf.nn.max_pool2d),
    "Conv2D": functools.partial(_convolved, tf.nn.conv2d, (2, 2, 3, 5)),
    "Depthwise": functools.partial(_convolved, tf.nn.depthwise_conv2d, (2, 2, 3, 2)),
    "Conv3D": lambda x: tf.nn.conv3d(
        tf.reshape(x, [2, 2, 2, 1, 3]), kernel(1, 1, 1, 3, 2), [1] * 5, "SAME"
    ),
    "BiasAdd": lambda x: [tf.nn.bias_add(x, w(x)), tf.nn.bias_add(images(x), w(x)[:3])],
    "InTopK": lambda x: raw("InTopKV2", x, labels(x), 2),
    "Entropy": lambda x: [
        tf.nn.softmax_cross_entropy_with_logits(x, x * 2),
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels(x), x),
    ],
    "Resize": lambda x: [
        tf.compat.v1.image.resize_bilinear(images(x), [4, 4]),
        tf.compat.v1.image.resize_nearest_neighbor(images(x), [4, 4]),
    ],
    "Space": lambda x: tf.nn.depth_to_space(tf.nn.space_to_depth(images(x), 2), 2),
    "Softmax": lambda x: [
        tf.nn.softmax(x),
        tf.nn.log_softmax(x),
        raw("Softmax", x[:, 0] + tf.reduce_sum(x, 1)),
    ],
    "MatMul": lambda x: [
        x @ tf.reshape(w(x), [6, 1]),
        tf.matmul(x, x, transpose_a=True),
        tf.matmul(x, x, transpose_b=True),
        tf.matmul(w(x)[:4][None], x),
        tf.matmul(x, tf.ones([4, 2]), transpose_a=True),
    ],
    "BatchMatMul": lambda x: (
        [
            tf.matmul(images(x), images(x), transpose_a=True),
            raw("BatchMatMul", images(x), images(x), adj_y=True),
            raw("BatchMatMulV2", images(x), kernel(3, 4)),
            raw("BatchMatMulV2", kernel(2, 1, 4, 2), images(x)),
            raw("BatchMatMulV2", images(x), x[:3]),
        ]
        + (
            [tf.raw_ops.BatchMatMulV3(x=images(x), y=kernel(3, 4), Tout=tf.float32)]
            if "BatchMatMulV3" in dir(tf.raw_ops)
            else []
        )
    ),
    "Einsum": lambda x: [
        tf.einsum("bijc,ck->bijk", images(x), kernel(3, 4)),
        tf.einsum("bijc,bkjc->bik", images(x), images(x)),
        tf.einsum("...c,cd->d...", images(x), kernel(3, 2)),
        tf.einsum("ck,ab->cakb", kernel(3, 4), x),
    ],
    "L2Loss": lambda x: [
        tf.nn.l2_loss(x),
        tf.nn.l2_loss(tf.reduce_sum(x)),
        tf.nn.l2_loss(tf.cast(x, tf.float64)),
    ],
    "clip_by_global_norm": lambda x: tf.clip_by_global_norm([x, x[0]], 1.0)[0],
    "Sum": lambda x: [
        tf.reduce_sum(x),
        tf.reduce_sum(x, 0),
        tf.reduce_sum(x, -1),
        tf.reduce_sum(x, [0], True),
        tf.reduce_sum(tf.reduce_sum(x), []),
    ],
    "Mean": lambda x: [tf.reduce_mean(x), tf.reduce_mean(x, 1, True)],
    "Extremes": lambda x: [
        tf.reduce_max(x, 0),
        tf.reduce_min(x, 1),
        tf.reduce_prod(x, 1),
        tf.argmax(x, 0),
        tf.argmin(x, -1),
    ],
    "Logic": lambda x: [tf.reduce_all(x > 0.2, 0), tf.reduce_any(x > 0.8, 1)],
    "Reshape": lambda x: [
        tf.reshape(x, [-1]),
        tf.expand_dims(x, 0),
        tf.squeeze(tf.reshape(x, [1, 8, 1, 3])),
        tf.reshape(tf.reduce_sum(x), [1, 1]),
        tf.reshape(tf.reduce_sum(x, keepdims=True), []),
    ],
    "Transpose": lambda x: [tf.transpose(x), tf.transpose(images(x), [0, 3, 1, 2])],
    "Tile": lambda x: [tf.tile(x, [2, 3]), tf.tile(x[:, 0], [2])],
    "BroadcastTo": lambda x: tf.broadcast_to(tf.reduce_sum(x, 0), [2, 4, 6]),
    "Pad": lambda x: [
        tf.pad(x, [[1, 0], [0, 2]]),
        tf.pad(x, [[1, 1], [0, 0]], constant_values=7),
        tf.pad(x, [[1, 1], [2, 0]], "REFLECT"),
    ],
    "Concat": lambda x: [tf.concat([x, tf.ones([1, 6])], 0), tf.concat([x, x], -1)],
    "Pack": lambda x: [
        tf.stack([x, tf.ones([4, 6])], -1),
        tf.stack([tf.reduce_sum(x), tf.constant(1.0)]),
    ],
    "Where": lambda x: [
        tf.where(x > 0.5),
        tf.where(x[0] > 0.5),
        tf.boolean_mask(x, x[:, 0] > 0.5),
        tf.boolean_mask(x, x > 0.5),
        tf.reduce_sum(tf.boolean_mask(x, x[:, 1] > 0.5) * tf.boolean_mask(-x, x[:, 1] > 0.5)),
        tf.gradients(tf.boolean_mask(x, x[:, 0] > 0.5) ** 2, x)[0],
    ],
    "Gather": lambda x: [tf.gather(kernel(6, 2), labels(x)), tf.gather(kernel(6, 2), labels(x)[0])],
    "OneHot": lambda x: [
        tf.one_hot(labels(x), 6),
        tf.one_hot(tf.cast(tf.reduce_sum(x), tf.int32), 3),
    ],
    "Passes": lambda x: [
        tf.identity(x),
        tf.stop_gradient(x),
        raw("PreventGradient", x),
        raw("Snapshot", x),
    ],
    "Slices": lambda x: [
        x[1],
        x[..., 1:3],
        x[::2, None, -1],
        x[:, 0] * 2,
        tf.slice(x, [1, 0], [2, -1]),
        tf.slice(x, [0, 2], [4, 3]),
    ],
    "SliceGradient": lambda x: tf.gradients(x[1:, ::-2] ** 2, x)[0],
    "Parts": lambda x: (
        tf.split(x, 3, -1) + tf.split(x, 2) + (tf.unstack(x) + tf.unstack(x, axis=-1))
    ),
    "Shapes": lambda x: [tf.raw_ops.Shape(input=x), tf.size(x), tf.rank(x)],
}


def _lists(x):
    """Every op on lists; replicas' elements differ."""
    ops, shape = tf.raw_ops, tf.constant([6])
    rows = ops.TensorListFromTensor(tensor=x, element_shape=shape)
    get = functools.partial(ops.TensorListGetItem, element_shape=shape, element_dtype=tf.float32)
    made = ops.TensorListReserve(element_shape=shape, num_elements=2, element_dtype=tf.float32)
    made = ops.TensorListSetItem(input_handle=made, index=1, item=x[0])
    made = ops.TensorListResize(input_handle=made, size=4)
    pushed = ops.EmptyTensorList(element_shape=shape, max_num_elements=-1, element_dtype=tf.float32)
    for element in (x[1], x[2], tf.ones([6])):
        pushed = ops.TensorListPushBack(input_handle=pushed, tensor=element)
    rest, last = ops.TensorListPopBack(
        input_handle=pushed, element_shape=shape, element_dtype=tf.float32
    )
    both = tf.raw_ops.AddN(inputs=[rows, rows])
    return [
        get(input_handle=rows, index=2),
        get(input_handle=made, index=1),
        last,
        get(input_handle=rest, index=0),
        ops.TensorListLength(input_handle=rest) + ops.TensorListLength(input_handle=made),
        ops.TensorListElementShape(input_handle=rows, shape_type=tf.int32),
        tf.ensure_shape(
            ops.TensorListStack(
                input_handle=both, element_shape=shape, element_dtype=tf.float32, num_elements=4
            ),
            [4, 6],
        ),
        ops.TensorListGather(
            input_handle=rows, indices=[3, 1], element_shape=shape, element_dtype=tf.float32
        ),
    ]


CASES["Lists"] = _lists
CASES.update(converted_cases.CASES)
CASES.update((op_type, functools.partial(_unary, op_type)) for op_type in elementwise.UNARY)
CASES.update((op_type, functools.partial(_binary, op_type)) for op_type in elementwise.BROADCAST)
CASES.update((op_type, functools.partial(_same, op_type)) for op_type in elementwise.SAME_SHAPE)


def _gradient(fn, *shape):
    """The gradient of a sum of squares for the weights of `fn`."""

    def gradient(x):
        weights = kernel(*shape)
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss = tf.reduce_sum(fn(x, weights) ** 2)
        return tape.gradient(loss, weights)

    return gradient


#: Functions whose sum over the replicas is wanted.
SUMS = {
    "Conv2DBackpropFilter": _gradient(
        lambda x, v: tf.nn.conv2d(images(x), v, 1, "VALID"), 2, 2, 3, 5
    ),
    "DepthwiseConv2dNativeBackpropFilter": _gradient(
        lambda x, v: tf.nn.depthwise_conv2d(images(x), v, [1, 1, 1, 1], "SAME"), 2, 2, 3, 2
    ),
    "MatMul": _gradient(lambda x, v: x @ v, 6, 3),
    "MatMul transposed": _gradient(lambda x, v: tf.matmul(x, v, transpose_b=True), 3, 6),
    "BiasAddGrad": _gradient(tf.nn.bias_add, 6),
    "Sum": _gradient(lambda x, v: x * v, 1, 6),
    "Einsum": _gradient(lambda x, v: tf.einsum("bijc,ck->bijk", images(x), v), 3, 4),
    "product of a sequence": _gradient(lambda x, v: tf.matmul(tf.reshape(x, [2, 2, 6]), v), 6, 3),
    "weight decay": _gradient(lambda x, v: tf.concat([x @ v, v], 0), 6, 3),
    "used twice": _gradient(lambda x, v: x @ v + (2 * x) @ v, 6, 3),
    "negative": lambda x: tf.reshape(-tf.matmul(x, x, transpose_a=True), [36]) - tf.ones([36]),
    "not linear": lambda x: tf.abs(tf.matmul(x, x, transpose_a=True) - 1),
    "of no replica": lambda x: w(x) + 0 * x[0],
    "a slice": _gradient(lambda x, v: tf.gather(v, labels(x)), 6, 2),
}
