"""``tf.config.list_logical_devices`` names the cores of a virtual TPU that was initialized."""

import pytest

native = pytest.importorskip("tensorflow")

if not hasattr(native, "config"):
    pytest.skip("TensorFlow 1.13 has no such list", allow_module_level=True)


def test_cores_are_listed_while_the_system_is_up(tf):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:4")
    tf.tpu.experimental.shutdown_tpu_system(resolver)
    assert tf.config.list_logical_devices("TPU") == []
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    cores = tf.config.list_logical_devices("TPU")
    assert [core.name for core in cores] == ["/device:TPU:%d" % i for i in range(4)]
    assert {core.device_type for core in cores} == {"TPU"}
    everything = tf.config.experimental.list_logical_devices()
    assert everything[: len(everything) - 4] == native.config.experimental.list_logical_devices()
    assert tf.config.list_logical_devices("CPU") == (
        native.config.experimental.list_logical_devices("CPU")
    )
    tf.tpu.experimental.shutdown_tpu_system(resolver)
    assert tf.config.list_logical_devices("TPU") == []
