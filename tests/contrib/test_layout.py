"""Devices and hosts, initialisation, configuration, and the resolver."""

import pytest
import tensorflow as tf

from tests.contrib.harness import strategy_of, tf1
from tpudist.contrib.cluster_resolver import TPUClusterResolver
from tpudist.contrib.distribute import TPUStrategy, TPUStrategyV1, get_tower_context
from tpudist.errors import ArgumentError, TopologyError, TPUNameError
from tpudist.system.cluster import initialize_tpu_system
from tpudist.system.placement import DeviceAssignment


def test_towers_and_devices(mode):
    distribution = strategy_of(8)
    assert distribution.num_towers == distribution.num_replicas == 8
    assert distribution.num_replicas_in_sync == 8
    assert distribution.is_single_tower is False
    assert isinstance(distribution.worker_devices, list)
    assert isinstance(distribution.parameter_devices, list)
    assert [device.rpartition("/")[2] for device in distribution.worker_devices] == [
        "device:TPU:%d" % i for i in range(8)
    ]
    assert distribution.parameter_devices == distribution.worker_devices


@pytest.mark.parametrize(
    ("name", "towers", "hosts"), [("virtual", 8, 1), ("virtual:1", 1, 1), ("virtual:v3-32", 32, 4)]
)
def test_hosts(graph, name, towers, hosts):
    distribution = strategy_of(name)
    assert (distribution.num_towers, distribution.num_hosts) == (towers, hosts)
    assert distribution.num_towers_per_host == towers // hosts
    assert distribution.is_single_tower is (towers == 1)
    devices = [distribution.get_host_cpu_device(i) for i in range(hosts)]
    assert len(set(devices)) == hosts
    assert all(device.endswith("device:CPU:0") for device in devices)
    for host_id in (-1, hosts, "0", None, True):
        with pytest.raises(ArgumentError, match="host_id="):
            distribution.get_host_cpu_device(host_id)


def test_flags(graph):
    distribution = strategy_of(2)
    assert distribution.between_graph is False
    assert distribution.should_init is True
    assert distribution.should_checkpoint is True
    assert distribution.should_save_summary is True
    assert distribution.steps_per_run == 2


def test_initialize_and_finalize_in_a_graph(graph):
    distribution = strategy_of(2)
    assert distribution.initialize() == []
    assert distribution.finalize() == []


def test_initialize_and_finalize_in_eager_mode(eager):
    distribution = strategy_of(2)
    assert distribution.initialize() is None
    assert distribution.finalize() is None


def test_configure(graph):
    config = tf1.ConfigProto(inter_op_parallelism_threads=3)
    strategy_of(2).configure(
        session_config=config, cluster_spec=None, task_type="worker", task_id=0
    )
    assert config.isolate_session_state
    assert config.inter_op_parallelism_threads == 3
    assert strategy_of(2).configure() is None


def test_two_strategies_on_one_slice(mode):
    resolver = TPUClusterResolver("virtual:8")
    for towers in (2, 8):
        distribution = TPUStrategy(resolver, 1, num_cores=towers)
        with distribution.scope():
            found = distribution.unwrap(distribution.call_for_each_tower(lambda: tf.constant(1.0)))
            assert mode.run(found) == [1.0] * towers


@pytest.mark.parametrize("cores", [0, 9, "2", 2.5])
def test_wrong_number_of_cores(graph, cores):
    with pytest.raises(TopologyError, match="num_cores="):
        strategy_of(8, num_cores=cores)


def test_constructor_of_1_15(graph):
    resolver = TPUClusterResolver("virtual:8")
    topology = initialize_tpu_system(resolver)
    assignment = DeviceAssignment.build(topology, num_replicas=2)
    distribution = TPUStrategyV1(resolver, steps_per_run=5, device_assignment=assignment)
    assert (distribution.num_towers, distribution.steps_per_run) == (2, 5)
    assert isinstance(distribution, TPUStrategy)
    assert TPUStrategy(resolver, device_assignment=assignment).num_towers == 2
    assert TPUStrategy(resolver).steps_per_run == 1


def test_resolver(graph, monkeypatch):
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    resolver = TPUClusterResolver(["virtual:v3-32"])
    assert resolver.num_accelerators() == {"TPU": 8}
    assert resolver.master() == resolver.get_master() == ""
    with pytest.raises(TPUNameError, match="virtual:nonsense"):
        TPUClusterResolver("virtual:nonsense")
    monkeypatch.setenv("TPUDIST_TPU", "virtual:2")
    assert strategy_of("a-name-of-another-tpu").num_towers == 2


def test_it_is_a_strategy_of_tensorflow(graph):
    distribution = strategy_of(2)
    assert isinstance(distribution, tf1.distribute.Strategy)
    assert isinstance(distribution, tf1.distribute.experimental.TPUStrategy)
    assert type(distribution).__name__.startswith("TPUStrategy")
    with distribution.scope():
        assert tf.distribute.get_strategy() is distribution


def test_ops_pinned_to_devices_of_the_strategy(graph):
    distribution = strategy_of("virtual:v3-32")

    def tower():
        with tf.device(get_tower_context().device):
            return tf.constant(1.0) + 1.0

    with distribution.scope():
        results = distribution.unwrap(distribution.call_for_each_tower(tower))
        with tf.device(distribution.get_host_cpu_device(3)):
            results.append(tf.constant(1.0) + 1.0)
        with tf.device("/device:CPU:0"):
            results.append(tf.constant(1.0) + 1.0)
    assert graph.run(results) == [2.0] * 34
