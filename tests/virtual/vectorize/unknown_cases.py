"""A function for every batching rule for ragged values.

`x` has rows of six numbers, `y` as many rows of one that came another way.
"""

import tensorflow as tf

from tests.virtual.vectorize import batching_cases
from tests.virtual.vectorize.batching_cases import kernel, raw, w
from tpudist.virtual.vectorize.rules import elementwise

#: A variable that is not a strategy's.
_TABLE = tf.Variable(kernel(6, 2))

#: {op type: its inputs besides a size}
_TRANSFORMS = {"ImageProjectiveTransformV2": (), "ImageProjectiveTransformV3": (0.5,)}


def images(x):
    return tf.reshape(x, [-1, 1, 2, 3])


def count(x):
    return tf.shape(x)[0]


def labels(x):
    return tf.cast(x[:, 0] * 6, tf.int32)


def gradient(loss, *values):
    """The gradients of a loss for some values."""
    with tf.GradientTape() as tape:
        tape.watch(values)
        result = loss(*values)
    return [tf.convert_to_tensor(value) for value in tape.gradient(result, values)]


def _trained(convolve, shape, x):
    return gradient(
        lambda x, k: tf.reduce_sum(convolve(images(x), k, [1, 1, 1, 1], "SAME") ** 2),
        x,
        kernel(*shape),
    )


def _volume_convolved(x, weights, strides, padding):
    return tf.nn.conv3d(x[:, None], weights, [1] + strides, padding)


def _masked(x, y):
    kept = tf.boolean_mask(x, x[:, 0] > 0.5)
    return [
        kept,
        tf.reduce_sum(kept, 0),
        tf.reduce_mean(kept + 1.0),
        tf.boolean_mask(x, x > 0.5),
        tf.where(x > 0.5),
        tf.where(tf.tile(x[:, :1] > 0.5, [1, 2])),
        gradient(lambda x: tf.reduce_sum(tf.boolean_mask(x, x[:, 0] > 0.5) ** 2), x),
    ]


def _normalized(x, y):
    """An op on the whole batch of a replica, and its gradient, keep the rows of a convolution."""

    def loss(x, kernel):
        y = tf.nn.conv2d(images(x), kernel, 1, "SAME")
        mean, zero = tf.reduce_mean(kernel, [0, 1, 2]), kernel[0, 0, 0] * 0
        y = tf.compat.v1.nn.fused_batch_norm(y, mean + 1, zero)[0] * y
        return tf.reduce_sum(tf.nn.conv2d(y, kernel[:, :, :1] + kernel, 1, "SAME") ** 2)

    return gradient(lambda x: loss(x, kernel(1, 2, 3, 3)), x)


def _unstacked(x, y):
    """What is unstacked of a per-replica value has equal numbers of rows."""
    one, other = tf.unstack(tf.transpose(tf.reshape(x, [-1, 2, 3, 1]), [1, 0, 2, 3]))
    return tf.nn.softmax(tf.matmul(one, other, transpose_b=True))


def _lists(x, y):
    """A loop that carries rows, and one that carries a list of them."""
    summed = tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * x + 1), (0, x * 0))[1]
    return [
        summed,
        tf.cond(tf.constant(True), lambda: x * 2, lambda: x),
        gradient(
            lambda x, v: tf.reduce_sum(
                tf.cond(v[0] > 0, lambda: tf.tanh(tf.sin(x)), lambda: tf.exp(tf.sin(v)) * x)
            ),
            x,
            w(x),
        ),
    ]


#: {name: function of x and y}
CASES = {
    "shapes": lambda x, y: [
        tf.shape(x),
        tf.size(x),
        tf.shape(x)[0] * 2,
        tf.stack([count(x), 3]),
        tf.reduce_prod(tf.shape(x)),
        tf.gather(tf.shape(x), [1, 0]),
        tf.shape(images(x))[1:3],
        tf.cast(count(x), tf.float32) / 2.0,
        tf.shape_n([x, y])[1],
        tf.concat([tf.shape(x)[:1], [2]], 0),
        tf.slice(tf.shape(x), [0], [1]),
        tf.size(x) // 6,
    ],
    "shapes passed on": lambda x, y: [
        raw("Identity", tf.shape(x)),
        raw("PreventGradient", tf.shape(x)),
        raw("Snapshot", tf.shape(x)),
        raw("StopGradient", tf.shape(x)),
        tf.cast(tf.shape(x), tf.int64),
        tf.expand_dims(count(x), 0),
        tf.reshape(count(x), [1]),
        tf.squeeze(tf.shape(x)[:1]),
        count(x) // 1,
        tf.dynamic_stitch([[1], [0]], [tf.shape(x)[:1], [5]]),
    ],
    "passed on": lambda x, y: [
        raw(each, x) for each in ("Identity", "PreventGradient", "Snapshot", "StopGradient")
    ],
    "shapes asked of": lambda x, y: [
        tf.zeros([count(x), 2]) + x[:, :2],
        tf.fill([count(x), 2], 3.0),
        tf.fill([count(x), 2], tf.reduce_sum(x)),
        tf.broadcast_to(w(x), tf.shape(x)),
        tf.broadcast_to(tf.reduce_sum(x, 0), tf.shape(x)),
        tf.tile(w(x)[None], [count(x), 2]),
        tf.tile(tf.reduce_sum(x, 0, True), tf.stack([count(x), 2])),
        tf.ones_like(x) * tf.cast(count(x), tf.float32),
    ],
    "broadcast": lambda x, y: [
        x * w(x),
        x * w(x)[0],
        x - tf.reduce_mean(x),
        x - tf.reduce_sum(x, 0),
        x - tf.reduce_sum(x, 0, True),
        images(x) - tf.reduce_sum(images(x), [0, 1, 2]),
        x * y,
        y - tf.reduce_sum(x, 1, True),
        tf.where(x > 0.5, x, y),
        tf.where(x > 0.5, x, 0.0),
        x * x[:, :1],
        tf.add_n([x, x * 2]),
        raw("Select", x > 0.5, x, -x),
        tf.maximum(tf.reduce_sum(x, 1), tf.reduce_sum(y, 1)),
    ],
    "broadcast gradients": lambda x, y: [
        gradient(lambda x, y: tf.reduce_sum((x - y) ** 2), x, y),
        gradient(lambda x, v: tf.reduce_sum((x * v) ** 2), x, w(x)),
        gradient(lambda x, v: tf.reduce_sum((x * v) ** 2), x, w(x)[None]),
        gradient(lambda x, v: tf.reduce_sum((x * v) ** 2), x, w(x)[0]),
        gradient(lambda x: tf.reduce_sum((x - tf.reduce_mean(x, 0)) ** 3), x),
        gradient(lambda x: tf.reduce_sum((x - tf.reduce_mean(x, 1, True)) ** 3), x),
        gradient(lambda x: tf.reduce_mean(x**2), x),
        gradient(lambda x: tf.reduce_sum(tf.square(images(x) * images(x)[:, :, :1])), x),
    ],
    "sums": lambda x, y: [
        tf.reduce_sum(x),
        tf.reduce_sum(x, 0),
        tf.reduce_sum(x, 0, True),
        tf.reduce_sum(x, -1),
        tf.reduce_mean(x + 1, 1),
        tf.reduce_mean(images(x), [0, 2]),
        tf.reduce_sum(labels(x)),
        tf.reduce_max(x, 1),
        tf.reduce_min(x, 1),
        tf.reduce_prod(x, 1),
        tf.reduce_max(x, 0),
        tf.argmax(x, 1),
        tf.argmin(x, 1),
        tf.reduce_all(x > 0.2, 1),
        tf.reduce_any(x > 0.8, 1),
    ],
    "axes": lambda x, y: [
        tf.transpose(images(x), [0, 3, 1, 2]),
        tf.transpose(x),
        tf.tile(x, [1, 2]),
        tf.tile(x, [2, 1]),
        tf.pad(x, [[0, 0], [1, 2]]),
        tf.pad(x, [[1, 0], [1, 2]]),
        tf.pad(x, [[0, 0], [1, 2]], constant_values=7),
        tf.concat([x, y], -1),
        tf.concat([x, x * 2], 0),
        tf.stack([x, x * 2], 1),
        tf.stack([x, x * 2]),
        tf.split(x, 3, 1),
        tf.split(x, [1, 5], 1),
        tf.unstack(x, axis=1),
        tf.cumsum(x, 1),
        tf.math.cumprod(x, 1),
        tf.cumsum(x, 0),
        tf.reverse(x, [1]),
        tf.reverse(x, [0]),
        list(tf.math.top_k(x, 2)),
        tf.expand_dims(x, 1),
        tf.expand_dims(x, 0),
        tf.squeeze(images(x), 1),
        tf.squeeze(x[:, :1], [1]),
    ],
    "slices": lambda x, y: [
        x[:, 1:3],
        x[:, -1],
        x[..., ::2],
        x[:, None],
        x[:-1],
        x[::2],
        tf.slice(x, [0, 1], [-1, 2]),
        tf.slice(x, [0, 1], [count(x), 2]),
        gradient(lambda x: tf.reduce_sum(x[:, 1:3] ** 2), x),
        gradient(lambda x: tf.reduce_sum(x[..., 1] ** 2), x),
        gradient(lambda x, y: tf.reduce_sum(tf.concat([x, y], 1) ** 3), x, y),
    ],
    "reshape": lambda x, y: [
        tf.reshape(x, [-1]),
        tf.reshape(x, [-1, 2]),
        tf.reshape(tf.reshape(x, [-1, 3]) * 2, [-1, 6]) + x,
        tf.reshape(x, [count(x), 3, 2]),
        tf.reshape(x, [count(x) * 2, 3]),
        tf.reshape(x, tf.concat([tf.shape(x)[:1], [2, 3]], 0)),
        tf.reshape(x, [1, -1]),
        tf.reshape(tf.reduce_sum(x), [1, 1]),
        tf.reshape(x, [3, -1]),
        tf.reshape(tf.transpose(x), [6, -1]),
    ],
    "tables": lambda x, y: [
        tf.gather(kernel(6, 2), labels(x)),
        tf.gather(x, [2, 0], axis=1),
        tf.gather(x, tf.range(count(x))[::-1]),
        tf.gather(x, tf.where(x[:, 1] > 0.4)[:, 0]),
        tf.gather(x, tf.range(count(x) // 2)),
        tf.gather(_TABLE, labels(x)),
        batching_cases.looked_up(labels(x)),
        batching_cases.looked_up(tf.cast(x * 6, tf.int32)) + x,
        tf.one_hot(labels(x), 6),
        tf.one_hot(labels(x), 6, axis=0),
        tf.math.unsorted_segment_sum(x, labels(x) - 1, 6),
        gradient(lambda v: tf.reduce_sum(tf.gather(v, labels(x)) ** 2), kernel(6, 2)),
    ],
    "products": lambda x, y: [
        x @ kernel(6, 2),
        tf.matmul(x, kernel(2, 6), transpose_b=True),
        tf.matmul(x, x, transpose_a=True),
        tf.matmul(images(x), kernel(3, 2)),
        tf.matmul(images(x), images(x), transpose_b=True),
        raw("BatchMatMul", images(x), images(x), adj_y=True),
        raw("BatchMatMulV2", tf.tile(images(x), [1, 2, 1, 1]), kernel(3, 4)),
        raw("BatchMatMulV2", kernel(1, 2, 5, 2), images(x)),
        [
            raw(each, images(x), kernel(1, 1, 3, 4), Tout=tf.float32)
            for each in {"BatchMatMulV3"} & set(dir(tf.raw_ops))
        ],
        tf.einsum("bijc,ck->bijk", images(x), kernel(3, 4)),
        tf.einsum("bijc,bkjc->bik", images(x), images(x)),
        tf.einsum("bi,bj->ij", x, x),
        gradient(lambda x, v: tf.reduce_sum((x @ v) ** 2), x, kernel(6, 2)),
    ],
    "layers": lambda x, y: [
        tf.nn.softmax(x),
        tf.nn.log_softmax(x),
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels(y), x),
        tf.nn.softmax_cross_entropy_with_logits(x, x * 2),
        gradient(
            lambda x: tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels(y), x)), x
        ),
        gradient(lambda x, v: tf.reduce_sum(tf.nn.bias_add(x, v) ** 2), x, w(x)),
        gradient(lambda x: tf.reduce_sum(tf.nn.relu(tf.nn.tanh(x) - 0.5)), x),
        tf.compat.v1.image.resize_bilinear(images(x), [4, 4]),
        tf.compat.v1.image.resize_nearest_neighbor(images(x), [4, 4]),
        tf.nn.space_to_depth(tf.reshape(x, [-1, 2, 1, 3])[:, :, :1] + tf.zeros([2, 2, 3]), 2),
        tf.nn.depth_to_space(tf.tile(images(x), [1, 1, 1, 4]), 2),
        raw("InTopKV2", x, labels(y), 2),
    ],
    "convolutions": lambda x, y: [
        _trained(tf.nn.conv2d, (1, 2, 3, 5), x),
        _trained(tf.nn.depthwise_conv2d, (1, 2, 3, 2), x),
        _trained(_volume_convolved, (1, 1, 2, 3, 4), x),
        gradient(lambda x: tf.reduce_sum(tf.nn.avg_pool2d(images(x), 2, 1, "SAME") ** 2), x),
        gradient(lambda x: tf.reduce_sum(tf.nn.max_pool2d(images(x), 2, 1, "SAME") ** 2), x),
    ],
    "images": lambda x, y: [
        gradient(lambda x: tf.reduce_sum(tf.image.resize(images(x), [4, 4]) ** 2), x),
        gradient(lambda x: tf.reduce_sum(tf.image.resize(images(x), [3, 3], "nearest") ** 2), x),
        gradient(lambda x: tf.reduce_sum(tf.image.resize(images(x), [4, 3], "bicubic") ** 2), x),
        tf.nn.local_response_normalization(images(x)),
        gradient(lambda x: tf.reduce_sum(tf.nn.local_response_normalization(images(x))), x),
        tf.image.extract_patches(images(x), [1, 1, 2, 1], [1] * 4, [1] * 4, "SAME"),
        gradient(
            lambda x: tf.reduce_sum(tf.nn.avg_pool3d(images(x)[:, None], 2, 1, "SAME") ** 2), x
        ),
        gradient(
            lambda x: tf.reduce_sum(
                raw("MaxPoolV2", images(x), [1, 1, 2, 1], [1] * 4, padding="SAME") ** 2
            ),
            x,
        ),
        [
            raw(each, images(x), x[:, :1] * tf.ones([8]), [2, 2], *more, interpolation="NEAREST")
            for each, more in _TRANSFORMS.items()
            if each in dir(tf.raw_ops)
        ],
    ],
    "volumes": lambda x, y: gradient(
        lambda x: tf.reduce_sum(tf.nn.max_pool3d(images(x)[:, None], 2, 1, "SAME") ** 2), x
    ),
    "reflected": lambda x, y: tf.pad(x, [[0, 0], [1, 2]], "REFLECT"),
    "normalized": _normalized,
    "unstacked": _unstacked,
    "masks": _masked,
    "control flow": _lists,
}

#: {name: types of the ops that are copied once per replica}
COPIED_TYPES = {
    "axes": "ConcatV2 Cumsum ExpandDims Pack Pad ReverseV2 Tile Transpose",
    "slices": "Slice StridedSlice",
    "products": "Einsum MatMul",
    "reshape": "Reshape Transpose",
    "layers": "BiasAddGrad",
    "sums": "Max Sum",
    "convolutions": "Conv2DBackpropFilter Conv3DBackpropFilterV2 "
    "DepthwiseConv2dNativeBackpropFilter",
    "tables": "AddV2 GatherV2 LookupTableFindV2 OneHot Range StridedSlice UnsortedSegmentSum Where",
    "normalized": "FusedBatchNormGradV3 FusedBatchNormV3",
    "unstacked": "Transpose Unpack",
    "masks": "GatherV2 Reshape UnsortedSegmentSum Where",
    "control flow": "Identity OptionalFromValue OptionalGetValue",
}

#: {name: function of x}, of which only the sum over the replicas is needed
SUMS = {
    "MatMul": lambda x: gradient(lambda v: tf.reduce_sum((x @ v) ** 2), kernel(6, 3))[0],
    "Conv2D": lambda x: _trained(tf.nn.conv2d, (1, 2, 3, 5), x)[1],
    "Conv3D": lambda x: _trained(_volume_convolved, (1, 1, 2, 3, 4), x)[1],
    "Depthwise": lambda x: _trained(tf.nn.depthwise_conv2d, (1, 2, 3, 2), x)[1],
    "BiasAdd": lambda x: gradient(lambda v: tf.reduce_sum(tf.nn.bias_add(x, v) ** 2), w(x))[0],
    "row": lambda x: gradient(lambda v: tf.reduce_sum((x * v) ** 2), w(x))[0],
    "number": lambda x: gradient(lambda v: tf.reduce_sum((x * v) ** 2), w(x)[0])[0],
    "Einsum": lambda x: gradient(
        lambda v: tf.reduce_sum(tf.einsum("bijc,ck->bijk", images(x), v) ** 2), kernel(3, 4)
    )[0],
    "table": lambda x: tf.math.unsorted_segment_sum(x, labels(x), 6),
    "Sum": lambda x: tf.reduce_sum(x, 0),
    "elements": lambda x: tf.reduce_sum(x),
    "of rows": lambda x: tf.reduce_sum(tf.cast(tf.size(x), tf.float32)),
}


def each_op(op_type, x):
    """An op that works element by element, on rows."""
    if op_type in elementwise.UNARY:
        return batching_cases._unary(op_type, x)
    if op_type in elementwise.BROADCAST:
        x = batching_cases._typed(op_type, x)
        condition = [x > 0.5] if op_type == "SelectV2" else []
        return [raw(op_type, *(condition + [x, w(x)])), raw(op_type, *(condition + [x, x[:, :1]]))]
    if op_type == "AddN":
        return tf.add_n([x, x])
    return raw(op_type, x, x * x)
