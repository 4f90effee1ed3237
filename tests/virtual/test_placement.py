"""Where the cores of a virtual slice are."""

import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from tpudist.system import cluster, placement
from tpudist.tfcompat import versions
from tpudist.v2_2.strategy import TPUStrategy
from tpudist.virtual import system


@pytest.mark.parametrize("name", ["virtual:8", "virtual:v3-32", "virtual:v4-32", "virtual:v5p-128"])
def test_every_core_has_a_place_of_its_own(name):
    described = system.parse(name)
    found = placement.topology(described)
    places = found.device_coordinates.reshape([described.cores, -1])
    assert len({tuple(place) for place in places}) == described.cores
    assert (places < np.array(found.mesh_shape)).all()
    assert found.num_tasks == described.hosts


@pytest.mark.parametrize(
    ("tpu", "shape", "cores"),
    [
        ("virtual:v3-8", [1, 1, 1], [0, 1, 2, 3, 4, 5, 6, 7]),
        ("virtual:v3-8", [1, 1, 2], [0, 2, 4, 6]),
        ("virtual:v3-32", [2, 2, 2], [0, 4, 16, 20]),
        ("virtual:v3-8", None, [5, 0]),
    ],
)
def test_replicas_are_named_as_their_cores(tpu, shape, cores):
    # Found by TensorFlow's tpu_strategy_test: the names were those of the first cores.
    resolver = cluster.TPUClusterResolver(tpu)
    topology = cluster.initialize_tpu_system(resolver)
    if shape is None:
        places = topology.device_coordinates.reshape([-1, 1, topology.mesh_rank])[cores]
        assignment = placement.DeviceAssignment(topology, places)
    else:
        assignment = placement.DeviceAssignment.build(
            topology, computation_shape=shape, num_replicas=len(cores)
        )
    strategy = TPUStrategy(resolver, assignment)
    names = strategy.extended.worker_devices
    assert sorted(names) == sorted(
        "/job:localhost/replica:0/task:0/device:TPU:%d" % i for i in cores
    )
    if shape is None:
        assert [int(name[-1]) for name in names] == cores
    if versions.HAS_FUNCTION:
        found = strategy.run(tf.function(lambda: tf.constant(1.0) + 1.0))
        results = strategy.experimental_local_results(found)
        assert [float(each) for each in results] == [2.0] * len(cores)


def test_ops_on_a_logical_device():
    # Found by TensorFlow's tpu_strategy_model_parallelism_test: there was no such method.
    resolver = cluster.TPUClusterResolver("virtual:v3-8")
    assignment = placement.DeviceAssignment.build(
        cluster.initialize_tpu_system(resolver), computation_shape=[1, 1, 2], num_replicas=4
    )
    extended = TPUStrategy(resolver, assignment).extended
    with extended.experimental_logical_device(1):
        made = tf.constant(1.0) + 1.0
    assert made.shape == []
    with pytest.raises(ValueError, match="logical_device_id=2"):
        with extended.experimental_logical_device(2):
            pass


@pytest.mark.skipif(not versions.HAS_FUNCTION, reason="1.13 has no tf.function")
def test_ops_of_a_replica_for_a_logical_device():
    strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:2"))

    def fn():
        with tf.distribute.get_replica_context().experimental_logical_device(0):
            return tf.constant(1.0) + 1.0

    found = strategy.run(tf.function(fn))
    assert [float(each) for each in strategy.experimental_local_results(found)] == [2.0] * 2


#: Averages in a replica function, in a process that places no op elsewhere than asked for.
AVERAGES = """
import tensorflow as tf
from tpudist.system import cluster
from tpudist.v2_2.strategy import TPUStrategy

tf.config.set_soft_device_placement(False)
strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:2"))
with strategy.scope():
    variable = tf.Variable([1.0], aggregation=tf.VariableAggregation.MEAN)
    averages = tf.train.ExponentialMovingAverage(0.8)

def replica():
    averages.apply([variable])
    variable.assign_sub([0.5])
    averages.apply([variable])
    return averages.average(variable)

found = tf.function(lambda: strategy.run(replica))()
print("%.4f" % strategy.experimental_local_results(found)[0].numpy()[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(not versions.TF2, reason="TensorFlow 1 has no soft placement to set")
def test_averages_where_soft_placement_is_off():
    """A replica's device is a name: ops that leave the trace are not placed on it."""
    done = subprocess.run([sys.executable, "-c", AVERAGES], stdout=subprocess.PIPE, check=True)
    assert done.stdout.split()[-1] == b"0.9000"
