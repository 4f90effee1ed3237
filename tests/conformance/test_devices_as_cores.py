"""What is refused of GPUs and CPUs as cores; `tests.helpers.cores` runs the rest on them."""

import pytest
import tensorflow as tf

from tests.conformance import modes
from tests.examples import running
from tpudist.core.system import cluster
from tpudist.errors import ArgumentError, TPUNameError
from tpudist.tfcompat import devices


@pytest.mark.skipif(devices.gpus() > 0, reason="there are GPUs")
def test_there_is_no_gpu():
    with pytest.raises(TPUNameError, match="TensorFlow sees none.*cpus:8"):
        cluster.TPUClusterResolver("gpus")


def test_there_are_fewer_gpus(surface):
    with pytest.raises(ArgumentError, match="TensorFlow sees .* GPU.*cpus:64"):
        surface.strategy_class(cluster.TPUClusterResolver("gpus:64"))


@pytest.mark.skipif(not hasattr(tf, "function"), reason="there only a Session divides the CPU")
def test_tensorflow_has_been_used_before():
    assert tf.constant(1.0) is not None
    with pytest.raises(ArgumentError, match="after TensorFlow has been used.*before the first"):
        modes.V2_2.strategy_class(cluster.TPUClusterResolver("cpus:64"))


@pytest.mark.slow
def test_a_session_with_a_configuration_of_its_own_has_the_cores(tmp_path):
    script = tmp_path / "towers.py"
    script.write_text(
        """
import tensorflow as tf

resolver = tf.contrib.cluster_resolver.TPUClusterResolver("a")
strategy = tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=1)


def tower(i):
    with tf.device("/device:TPU:3"):
        four = tf.constant(4.0)
    return four * tf.cast(i, tf.float32)


with tf.Graph().as_default(), strategy.scope():
    towers = strategy.unwrap(strategy.call_for_each_tower(tower, strategy.worker_device_index))
    with tf.Session(config=tf.ConfigProto()) as session:
        print([float(each) for each in session.run(towers)])
        print(towers[0].graph.get_operation_by_name("Const").device)
"""
    )
    done = running.python("-m", "tpudist", "run", "--tpu", "cpus:4", str(script), cwd=running.ROOT)
    assert "[0.0, 4.0, 8.0, 12.0]" in done.stdout, done.stderr[-2000:]
    assert "device:CPU:3" in done.stdout
