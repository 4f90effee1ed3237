"""GPUs as cores, on devices that are described: where variables are, and what adds gradients."""

import collections

import pytest
import tensorflow as tf

from tests.helpers.generations import second_generation
from tpudist import v2_2
from tpudist.system import cluster
from tpudist.tfcompat import devices


@pytest.fixture
def strategy(monkeypatch):
    """A strategy on two GPUs, in a graph."""
    monkeypatch.setattr(devices, "gpus", lambda: 2)
    with tf.Graph().as_default():
        yield v2_2.TPUStrategy(cluster.TPUClusterResolver("gpus"))


@second_generation
def test_each_gpu_has_a_copy_and_nccl_adds_the_gradients(strategy):
    assert strategy.num_replicas_in_sync == 2
    with strategy.scope():
        weights = tf.Variable(tf.ones([3]))
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)

    def replica():
        return optimizer.minimize(lambda: tf.reduce_sum(weights * 2.0), var_list=[weights])

    strategy.run(replica)
    found = collections.defaultdict(list)
    for op in tf.compat.v1.get_default_graph().get_operations():
        found[op.type].append(op.device.rpartition("/")[2])
    assert found["VarHandleOp"] == ["device:GPU:0", "device:GPU:1"]
    assert sorted(found["NcclAllReduce"]) == ["device:GPU:0", "device:GPU:1"]
    assert sorted(found["ResourceApplyGradientDescent"]) == ["device:GPU:0", "device:GPU:1"]
