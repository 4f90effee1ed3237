"""``tf.contrib.tpu.shard`` and ``batch_parallel``: parts of a batch on the cores of a TPU."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contrib.harness import tf1
from tpudist.contrib import tpu
from tpudist.dropin import finder
from tpudist.errors import ArgumentError, ArgumentTypeError


@pytest.mark.parametrize("path", ["contrib.tpu", "contrib.tpu.python.tpu.tpu", "python.tpu.tpu"])
def test_batch_parallel(graph, meant, path):
    """Each core takes its part of the batch; the outputs of all are one batch again."""
    module = finder.find_module("contrib", path)
    x = tf.constant([[3, 4], [1, 5], [7, 2], [9, 6]])

    def computation(part, number):
        assert part.shape.as_list() == [1, 2]
        return part * 10, tpu.cross_replica_sum(part), number[0] + tf.reduce_sum(part)

    shards = module.batch_parallel(computation, [x, tf.constant([0, 100, 200, 300])], num_shards=4)
    own, summed, scalars = graph.run(shards)
    np.testing.assert_array_equal(own, [[30, 40], [10, 50], [70, 20], [90, 60]])
    np.testing.assert_array_equal(summed, [[20, 17]] * 4)
    np.testing.assert_array_equal(scalars, [7, 106, 209, 315])
    assert shards[0].shape.as_list() == [4, 2]


def test_shards_along_other_dimensions(graph, meant):
    x = tf.reshape(tf.range(8), [2, 4])
    y = tf.range(4)
    outputs = tpu.shard(
        lambda a, b: [a + b[:, None], tf.reduce_sum(a)[None], a],
        [x, y],
        num_shards=2,
        input_shard_axes=[1, 0],
        outputs_from_all_shards=[True, True, False],
        output_shard_axes=[1, 0, 0],
    )
    left, right = np.array([[0, 1], [4, 5]]), np.array([[2, 3], [6, 7]])
    joined, sums, first = graph.run(outputs)
    np.testing.assert_array_equal(
        joined, np.concatenate([left + [[0], [1]], right + [[2], [3]]], axis=1)
    )
    np.testing.assert_array_equal(sums, [10, 18])
    np.testing.assert_array_equal(first, left)


def test_shards_without_outputs(graph, meant):
    v = tf1.get_variable("v", initializer=0.0)
    graph.run(v.initializer)
    (done,) = tpu.batch_parallel(lambda: None, num_shards=2)
    graph.run(done)
    assert graph.run(v) == 0.0


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (dict(num_shards=0), ArgumentError, "num_shards=0"),
        (dict(inputs=(1,)), ArgumentTypeError, "inputs="),
        (dict(inputs=[[1.0]], input_shard_axes=[0, 1]), ArgumentError, "input_shard_axes"),
        (dict(output_shard_axes=[0, 1]), ArgumentError, "output_shard_axes"),
        (dict(outputs_from_all_shards=[True] * 2), ArgumentError, "outputs_from_all_shards"),
    ],
)
def test_shards_that_do_not_fit(graph, meant, arguments, kind, words):
    with pytest.raises(kind, match=words + ".*Instead:"):
        tpu.shard(lambda *parts: [tf.constant([1.0])], **arguments)


def test_shard_natively(graph, real):
    outputs = tpu.shard(lambda x: x + 1.0, [tf.constant([1.0, 2.0])], num_shards=2)
    (again,) = tpu.batch_parallel(lambda x: x + 1.0, [tf.constant([1.0, 2.0])], num_shards=2)
    assert [len(outputs), again.shape.as_list()] == [1, [2]]
    kinds = [op.type for op in tf1.get_default_graph().get_operations()]
    assert kinds.count("TPUReplicateMetadata") == 2
