"""A function for every batching rule, and functions of which only the sum is needed."""

import functools

import tensorflow as tf

from tests.virtual.vectorize import converted_cases, example_cases, places_cases
from tests.virtual.vectorize.converted_cases import definite, raw, v
from tests.virtual.vectorize.example_cases import gradient, images, kernel
from tpudist.virtual.vectorize.rules import elementwise

_BOOLEAN = ("LogicalAnd", "LogicalOr", "LogicalNot")
_INTEGER = ("BitwiseAnd", "BitwiseOr", "Invert", "Mod", "PopulationCount", "TruncateDiv")
#: {op type: function from `x`, numbers from 0.1 to 0.9, to inputs for which results differ}
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


def labels(x):
    return tf.cast(x[:, 0] * 6, tf.int32)


@functools.lru_cache()
def _table():
    """Numbers of some keys."""
    with tf.init_scope():
        keys, values = tf.constant([0, 1, 2, 4]), tf.constant([0.5, 0.25, 3.0, -1.0])
        initializer = tf.lookup.KeyValueTensorInitializer(keys, values)
        return tf.lookup.StaticHashTable(initializer, 7.0)


def _recurrent(step):
    """What a loop makes of what it takes step by step."""
    first = tf.zeros([4])
    return tf.while_loop(
        lambda i, y: i < 6, lambda i, y: (i + 1, tf.tanh(y * 2 + step(i))), (0, first)
    )[1]


def looked_up(keys):
    """What a table has for keys, some of which it has not."""
    return _table().lookup(keys)


def masked(x):
    """Rows and elements that a condition picks, how many only the run knows."""
    return [
        tf.where(x > 0.5),
        tf.where(x[0] > 0.5),
        tf.boolean_mask(x, x[:, 0] > 0.5),
        tf.boolean_mask(x, x > 0.5),
        tf.reduce_sum(tf.boolean_mask(x, x[:, 1] > 0.5) * tf.boolean_mask(-x, x[:, 1] > 0.5)),
        tf.gradients(tf.boolean_mask(x, x[:, 0] > 0.5) ** 2, x)[0],
    ]


#: Ops that have no rule, or none for these attributes.
WITHOUT_RULES = {
    "LookupTableFindV2": lambda x: [
        looked_up(labels(x)) * 2,
        looked_up(labels(x)[0]),
        looked_up(tf.cast(x * 6, tf.int32)),
        tf.cast(_table().size(), tf.float32) * x,
    ],
    "Roll": lambda x: [tf.roll(x, 1, -1), tf.roll(x, [1, 2], [0, -1]), tf.roll(x, [1, 1], [1, 1])],
    "CumulativeLogsumexp": lambda x: [
        tf.math.cumulative_logsumexp(x, 1),
        tf.math.cumulative_logsumexp(x, -2, exclusive=True, reverse=True),
    ],
    "Matrices": lambda x: [
        tf.linalg.det(definite(x)),
        list(tf.linalg.qr(v(x, 2, 3, 2))),
        tf.abs(list(tf.linalg.svd(definite(x)))[0]),
        tf.linalg.svd(v(x, 2, 3, 2), compute_uv=False),
        tf.linalg.eigvalsh(definite(x)),
        tf.abs(tf.linalg.eigh(definite(x))[1]),
        tf.linalg.tridiagonal_solve(v(x, 3, 4) + tf.constant([[0.0], [3], [0]]), v(x, 4)),
        tf.linalg.tridiagonal_matmul(v(x, 3, 4), v(x, 4, 2)),
    ],
    "Colours": lambda x: [tf.image.rgb_to_hsv(images(x)), tf.image.hsv_to_rgb(x[:, :3])],
    "ReverseSequence": lambda x: [
        tf.reverse_sequence(v(x, 6, 4), [1, 2, 3, 4], seq_axis=0, batch_axis=1),
        tf.reverse_sequence(v(x, 2, 3, 4, 2), [1, 2, 3, 3], seq_axis=1, batch_axis=2),
    ],
}

CASES = {
    "BiasAdd": lambda x: [tf.nn.bias_add(x, w(x)), tf.nn.bias_add(images(x), w(x)[:3])],
    "InTopK": lambda x: raw("InTopKV2", x, labels(x), 2),
    "Entropy": lambda x: [
        tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=x * 2),
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels(x), logits=x),
    ],
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
        tf.gradients(tf.pad(x, [[1, 1], [2, 0]], "REFLECT") ** 2, x)[0],
        tf.gradients(tf.pad(x, [[1, 1], [2, 0]], "SYMMETRIC") ** 2, x)[0],
    ],
    "Concat": lambda x: [tf.concat([x, tf.ones([1, 6])], 0), tf.concat([x, x], -1)],
    "Pack": lambda x: [
        tf.stack([x, tf.ones([4, 6])], -1),
        tf.stack([tf.reduce_sum(x), tf.constant(1.0)]),
    ],
    "OneHot": lambda x: [
        tf.one_hot(labels(x), 6),
        tf.one_hot(tf.cast(tf.reduce_sum(x), tf.int32), 3),
        tf.one_hot(labels(x), 6, axis=0),
        tf.one_hot(tf.cast(x * 3, tf.int32), 3, 2.0, axis=1),
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
    "Slices of a loop": lambda x: _recurrent(lambda i: x[:, i]),
    "Slices of a loop, of one size": lambda x: _recurrent(
        lambda i: tf.slice(x, [0, i], [4, 1])[:, 0]
    ),
    "Gradient of a loop's slices": lambda x: tf.gradients(_recurrent(lambda i: x[:, i]) ** 2, x)[0],
    "Fill": lambda x: [tf.fill([2, 3], x[0, 0]), tf.fill([], x[1, 0])],
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


def _optionals(x):
    """What is packed for a gradient, and unpacked there."""
    optional = raw("OptionalFromValue", [x])
    return raw("OptionalGetValue", tf.identity(optional), [tf.float32], [[4, 6]])[0]


CASES["Lists"] = _lists
CASES["Optionals"] = _optionals
for cases in (converted_cases, example_cases, places_cases):
    CASES.update(cases.CASES)
CASES.update((op_type, functools.partial(_unary, op_type)) for op_type in elementwise.UNARY)
CASES.update((op_type, functools.partial(_binary, op_type)) for op_type in elementwise.BROADCAST)
CASES.update((op_type, functools.partial(_same, op_type)) for op_type in elementwise.SAME_SHAPE)


#: Functions of which only the sum over the replicas is needed.
SUMS = {
    **example_cases.SUMS,
    "MatMul": gradient(lambda x, v: x @ v, 6, 3),
    "MatMul transposed": gradient(lambda x, v: tf.matmul(x, v, transpose_b=True), 3, 6),
    "BiasAddGrad": gradient(tf.nn.bias_add, 6),
    "Sum": gradient(lambda x, v: x * v, 1, 6),
    "Einsum": gradient(lambda x, v: tf.einsum("bijc,ck->bijk", images(x), v), 3, 4),
    "product of a sequence": gradient(lambda x, v: tf.matmul(tf.reshape(x, [2, 2, 6]), v), 6, 3),
    "weight decay": gradient(lambda x, v: tf.concat([x @ v, v], 0), 6, 3),
    "used twice": gradient(lambda x, v: x @ v + (2 * x) @ v, 6, 3),
    "negative": lambda x: tf.reshape(-tf.matmul(x, x, transpose_a=True), [36]) - tf.ones([36]),
    "not linear": lambda x: tf.abs(tf.matmul(x, x, transpose_a=True) - 1),
    "of no replica": lambda x: w(x) + 0 * x[0],
    "a slice": gradient(lambda x, v: tf.gather(v, labels(x)), 6, 2),
}
