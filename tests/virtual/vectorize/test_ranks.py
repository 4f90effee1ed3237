"""Ops are batched along a new axis only if TensorFlow's kernels take one axis more."""

import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual.harness import distributed, graph, make
from tpudist.tfcompat import versions

CORES = 2

pytestmark = pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="before 2.4 the replica function is traced once per replica"
)


def _places(x, number):
    """Numbers below 2 that are a replica's own."""
    return tf.range(number) % 2 + tf.cast(tf.reduce_min(x) < 0.0, tf.int32)


#: Ops by the highest rank that is tried; a rank that this release's kernel does
#: not take without a strategy is left out.
OPS = {
    "pad": lambda x: tf.pad(x, [[1, 0]] * x.shape.rank),
    "pad with": lambda x: tf.pad(x, [[1, 0]] * x.shape.rank, constant_values=3.0),
    "reflect": lambda x: tf.pad(x, [[1, 0]] * x.shape.rank, "REFLECT"),
    "argmax": lambda x: tf.argmax(x, x.shape.rank - 1),
    "slice": lambda x: tf.slice(x, [0] * x.shape.rank, [1] * x.shape.rank),
    "strided": lambda x: x[..., ::2],
    "strided gradient": lambda x: tf.gradients(x[..., ::2] ** 2, x)[0],
    "transpose": lambda x: tf.transpose(x),
    "tile": lambda x: tf.tile(x, [2] + [1] * (x.shape.rank - 1)),
    "broadcast": lambda x: tf.broadcast_to(x[..., :1], x.shape),
    "reduce": lambda x: tf.reduce_sum(x, list(range(x.shape.rank))[::2]),
    "maximum of": lambda x: tf.reduce_max(x, list(range(x.shape.rank))[1::2]),
    "add": lambda x: x + tf.reduce_max(x, list(range(x.shape.rank))[1::2], keepdims=True),
    "multiply": lambda x: x * tf.reduce_sum(x, list(range(x.shape.rank))[::2], keepdims=True),
    "select": lambda x: tf.where(
        x > 3.0, x, tf.reduce_sum(x, list(range(x.shape.rank))[::2], keepdims=True)
    ),
    "concat": lambda x: tf.concat([x, x], -1),
    "pack": lambda x: tf.stack([x, x], -1),
    "unpack": lambda x: tf.unstack(x, axis=-1),
    "split": lambda x: tf.split(x, 2, -1),
    "one_hot": lambda x: tf.one_hot(tf.cast(x, tf.int32), 3),
    "gather": lambda x: tf.gather(tf.range(1000.0), tf.cast(x, tf.int32)),
    "softmax": lambda x: tf.nn.softmax(x),
    "matmul": lambda x: tf.matmul(x, x, transpose_b=True),
    "cumsum": lambda x: tf.cumsum(x, 0),
    "cumulative": lambda x: tf.math.cumulative_logsumexp(x, 1),
    "reflect gradient": lambda x: tf.gradients(tf.pad(x, [[1, 0]] * x.shape.rank, "REFLECT"), x)[0],
    "roll": lambda x: tf.roll(x, [1, 1], [0, -1]),
    "reverse_sequence": lambda x: tf.reverse_sequence(x, [1, 2], seq_axis=1, batch_axis=0),
    "reverse_sequence inside": lambda x: tf.reverse_sequence(x, [1, 2], seq_axis=1, batch_axis=2),
    "gather of each": lambda x: tf.gather(x, _places(x, 2), axis=1),
    "gather_nd gradient": lambda x: tf.gradients(tf.gather_nd(x, [_places(x, x.shape.rank)]), x)[0],
    "segments": lambda x: tf.math.unsorted_segment_sum(
        x, tf.broadcast_to(_places(x, 2), x.shape.as_list()), 2
    ),
}


def run(fn, shape):
    """What `fn` gives each replica for its share, and what it gives without a strategy."""
    values = np.arange(CORES * np.prod(shape), dtype=np.float32).reshape((CORES,) + shape)
    try:
        alone = graph(fn)
        alone = [tf.nest.flatten(alone(tf.constant(share))) for share in values]
    except (tf.errors.OpError, ValueError):
        return None, None
    tpu = make(CORES)
    outputs = tf.nest.flatten(graph(lambda x: tpu.run(fn, args=(x,)))(distributed(tpu, values)))
    parts = [tpu.experimental_local_results(leaf) for leaf in outputs]
    return [list(replica) for replica in zip(*parts)], alone


def check(fn, shape):
    outputs, alone = run(fn, shape)
    for replica, expected in zip(outputs or (), alone or ()):
        for got, wanted in zip(replica, expected):
            np.testing.assert_allclose(got.numpy(), wanted.numpy(), 1e-5)
    return outputs is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(OPS))
def test_an_op_takes_the_same_ranks_as_without_a_strategy(name):
    done = [rank for rank in range(4, 9) if check(OPS[name], (2,) * rank)]
    assert done[:2] == [4, 5]


PROBE = """
import tensorflow as tf
tf.function(lambda x: tf.transpose(x, [0, -1, 1]))(tf.ones([2, 3, 4]))
"""


@pytest.fixture(scope="module")
def axes_from_the_end():
    """Skips where plain TensorFlow ends the process (seen on 2.15 and 2.16: a failed CHECK)."""
    if subprocess.run([sys.executable, "-c", PROBE], stderr=subprocess.DEVNULL).returncode < 0:
        pytest.skip("tf.transpose with a negative axis aborts this TensorFlow")


@pytest.mark.slow
@pytest.mark.usefixtures("axes_from_the_end")
@pytest.mark.parametrize(
    "order", [[0, -1, 1], [0, -2, -1], [-1, 0, 1], [2, -2, 0]], ids=lambda order: str(order)
)
def test_axes_may_be_counted_from_the_end(order):
    if not check(lambda x: tf.transpose(x, order), (2, 3, 4)):
        pytest.skip("this TensorFlow takes no such axes")


def _length(x):
    """A number that is every replica's own, and always 4."""
    return tf.reduce_sum(tf.cast(x > -1.0, tf.int32))


@pytest.mark.parametrize(
    "make",
    [
        lambda x: tf.reshape(tf.range(4.0), tf.stack([_length(x), 1])),
        lambda x: tf.broadcast_to(tf.constant([[1.0]]), tf.stack([_length(x), 1])),
        lambda x: tf.fill(tf.stack([_length(x), 1]), 2.0),
        lambda x: tf.tile(tf.ones([1, 1]), tf.stack([_length(x), 1])),
    ],
    ids=["reshape", "broadcast_to", "fill", "tile"],
)
@pytest.mark.parametrize("how", ["set_shape", "ensure_shape"])
def test_a_uniform_value_may_get_a_per_replica_shape(make, how):
    def fn(x):
        made = make(x)
        if how == "ensure_shape":
            made = tf.ensure_shape(made, [4, 1])
        made.set_shape([4, 1])
        return made * x[0]

    assert check(fn, (4,))
