"""Workers of a virtual TPU: their names mean this process, as on a TPU that is connected."""

import numpy as np
import pytest

native = pytest.importorskip("tensorflow")

ADDRESS = "grpc://10.0.0.2:8470"


@pytest.fixture
def resolver(tf):
    """The resolver of a slice of four hosts that is started."""
    made = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:v3-32")
    tf.config.experimental_connect_to_cluster(made)
    tf.tpu.experimental.initialize_tpu_system(made)
    yield made
    tf.tpu.experimental.shutdown_tpu_system(made)


def test_the_cluster_has_a_worker_per_host(resolver):
    workers = resolver.cluster_spec().as_dict()["worker"]
    assert len(workers) == 4 and len(set(workers)) == 4
    assert resolver.master() == ""


@pytest.mark.parametrize(
    "name",
    [
        "/job:worker",
        "/job:worker/replica:0/task:0/device:CPU:0",
        "/job:worker/replica:0/task:1",
        "/cpu:0",
        None,
    ],
)
def test_ops_on_a_worker_run_here(tf, resolver, name):
    with native.Graph().as_default(), tf.compat.v1.Session() as session:
        with tf.device(name):
            product = tf.matmul([[1.0, 2.0]], [[3.0], [4.0]])
        np.testing.assert_array_equal(session.run(product), [[11.0]])
        assert "worker" not in product.device
        if name and "worker" in name:
            assert product.device.startswith("/job:localhost")


def test_names_of_workers_are_left_alone_without_a_virtual_tpu(tf, monkeypatch):
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    with native.Graph().as_default(), tf.device("/job:worker/task:1"):
        assert tf.constant(1.0).device == "/job:worker/task:1"


def test_a_device_function_is_called(tf, resolver):
    with native.Graph().as_default(), tf.compat.v1.device(lambda op: "/device:CPU:0"):
        assert tf.constant(1.0).device == "/device:CPU:0"


def test_a_session_on_a_workers_address_is_in_process(tf, monkeypatch):
    monkeypatch.setenv("TPUDIST_TPU", "virtual:8")
    with native.Graph().as_default():
        with tf.compat.v1.Session(ADDRESS) as session:
            assert session.run(tf.constant(1.0) + 1.0) == 2.0
            kinds = [device.device_type for device in session.list_devices()]
        assert kinds.count("TPU") == 8 and "CPU" in kinds
        assert isinstance(session, tf.compat.v1.Session)
        with native.compat.v1.Session() as other:
            assert isinstance(other, tf.compat.v1.Session)
            assert not isinstance(other, tf.compat.v1.InteractiveSession)

        class Own(tf.compat.v1.Session):
            """A class of a script's."""

        assert not isinstance(session, Own)
        with Own() as own:
            assert isinstance(own, tf.compat.v1.Session)
            assert own.run(tf.constant(2.0)) == 2.0


def test_a_local_session_lists_what_is_here(tf, monkeypatch):
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    with native.Graph().as_default(), tf.compat.v1.Session() as session:
        assert all(device.device_type != "TPU" for device in session.list_devices())


@pytest.mark.parametrize("time", ["first", "again"])
def test_a_tpu_ends_with_the_test_that_starts_it(tf, monkeypatch, time):
    test_a_local_session_lists_what_is_here(tf, monkeypatch)
    made = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:8")
    tf.tpu.experimental.initialize_tpu_system(made)


def test_extended_tells_of_its_cores(tf, resolver):
    topology = tf.tpu.experimental.initialize_tpu_system(resolver)
    build = tf.tpu.experimental.DeviceAssignment.build
    made = build(topology, computation_shape=[1, 1, 2], num_replicas=16)
    strategies = [
        tf.distribute.experimental.TPUStrategy(resolver, device_assignment=made),
        tf.distribute.experimental.TPUStrategy(resolver),
    ]
    assert [s.extended.device_assignment for s in strategies] == [made, None]
    assert [s.extended._tpu_devices.shape for s in strategies] == [(16, 2), (32, 1)]
    for strategy in strategies:
        names = strategy.extended._tpu_devices
        assert len(set(names.flat)) == 32
        assert list(strategy.extended.worker_devices) == list(names[:, 0])
    kind = getattr(native.tpu.experimental, "HardwareFeature", None)
    if kind is not None:
        feature = strategies[0].extended.tpu_hardware_feature
        assert feature.embedding_feature == kind.EmbeddingFeature.UNSUPPORTED
        assert feature.num_embedding_devices_per_chip == 0
    else:
        assert not hasattr(strategies[0].extended, "tpu_hardware_feature")
