"""What is refused of GPUs and CPUs as cores; `tests.helpers.cores` runs the rest on them."""

import pytest
import tensorflow as tf

from tests.conformance import modes
from tpudist.core.system import cluster
from tpudist.errors import ArgumentError, TPUNameError
from tpudist.tfcompat import devices
from tpudist.virtual import system


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


def test_a_sessions_own_configuration_gets_the_cores():
    config = tf.compat.v1.ConfigProto()
    devices.configure(config, system.parse("cpus:4"))
    assert config.device_count["CPU"] == 4
    other = tf.compat.v1.ConfigProto()
    devices.configure(other, system.parse("virtual:4"))
    assert other == tf.compat.v1.ConfigProto()
