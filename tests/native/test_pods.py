"""Slices of several hosts: what TensorFlow's own program has of cores, topology and hosts.

Built on a described system, in a graph, on every release: no machine of ours has a TPU.
"""

import collections

import pytest
import tensorflow as tf

from tests.native import described
from tests.native.test_native_graph import nodes
from tpudist.contrib import tpu as contrib_tpu
from tpudist.contrib.distribute import TPUStrategy as ContribStrategy
from tpudist.contrib.distribute import VariableAggregation
from tpudist.surfaces import slices
from tpudist.system import placement
from tpudist.tfcompat import tpu, versions
from tpudist.v2_0.strategy import TPUStrategy as TPUStrategy20
from tpudist.v2_2.strategy import TPUStrategy as TPUStrategy22
from tpudist.virtual import system

HOSTS = 4

#: {accelerator type: (devices, of one host)}. A chip of v4 is one device.
PODS = {"v3-32": (32, 8), "v4-32": (16, 4)}


@pytest.fixture(params=sorted(PODS))
def pod(request, monkeypatch):
    """A slice, described, in a graph: its name, devices, and resolver."""
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    monkeypatch.setattr(
        "tpudist.computations.tpu_ops._last_system", None
    )  # of another test's resolver
    cores, per_host = PODS[request.param]
    assert (slices.find(request.param).devices, slices.find(request.param).hosts) == (cores, HOSTS)
    resolver = described.DescribedResolver(cores, HOSTS, "grpc://10.0.0.2:8470")
    described.answer_for(monkeypatch, resolver)
    with tf.Graph().as_default() as graph:
        yield Pod(request.param, cores, per_host, resolver, graph)


Pod = collections.namedtuple("Pod", "name cores per_host resolver graph")


def of_kind(pod, kind):
    return [node for node in nodes(pod.graph) if node.op == kind]


def metadata(pod):
    (found,) = of_kind(pod, "TPUReplicateMetadata")
    return found.attr


def tasks(pod, kinds):
    """{task: ops whose names begin like this on that host's CPU}."""
    return collections.Counter(
        device.task
        for node in nodes(pod.graph)
        if node.op.startswith(kinds)
        for device in [tf.DeviceSpec.from_string(node.device)]
        if device.device_type == "CPU" and device.job == "worker"
    )


def topology(pod):
    return placement.topology(system.parse("virtual:" + pod.name))


def strategies(pod):
    return [ContribStrategy(pod.resolver, steps_per_run=1), TPUStrategy20(pod.resolver)] + [
        TPUStrategy22(pod.resolver)
    ]


def test_strategies_have_all_cores_and_hosts(pod):
    for strategy in strategies(pod):
        assert strategy.num_replicas_in_sync == pod.cores
        assert strategy.extended.num_hosts == HOSTS
        devices = [tf.DeviceSpec.from_string(each) for each in strategy.extended.worker_devices]
        assert [(each.task, each.device_index) for each in devices] == [
            (host, core) for host in range(HOSTS) for core in range(pod.per_host)
        ]


def test_a_step_is_one_program_of_all_cores(pod):
    strategy = TPUStrategy22(pod.resolver)
    with strategy.scope():
        strategy.run(lambda x: x * 2.0, args=(tf.constant(1.0),))
    assert metadata(pod)["num_replicas"].i == pod.cores
    assert metadata(pod)["num_cores_per_replica"].i == 1
    outputs = of_kind(pod, "TPUReplicatedOutput")
    assert {node.attr["num_replicas"].i for node in outputs} == {pod.cores}


@pytest.mark.parametrize("cores_per_replica", [1, 2])
def test_topology_and_device_assignment(pod, cores_per_replica):
    shape = [1, 1, 1, 2] if pod.name == "v3-32" else [2, 1, 1, 1]
    assignment = placement.DeviceAssignment.build(
        topology(pod),
        shape if cores_per_replica == 2 else None,
        num_replicas=pod.cores // cores_per_replica,
    )
    inputs = [[tf.constant(float(i))] for i in range(pod.cores // cores_per_replica)]
    outputs = contrib_tpu.replicate(lambda x: x * 2.0, inputs, device_assignment=assignment)
    found = metadata(pod)
    assert len(outputs) == found["num_replicas"].i == len(inputs)
    assert found["num_cores_per_replica"].i == cores_per_replica
    described_mesh = tpu.Topology(serialized=found["topology"].s)
    assert list(described_mesh.mesh_shape) == list(topology(pod).mesh_shape)
    assert (described_mesh.num_tasks, described_mesh.num_tpus_per_task) == (HOSTS, pod.per_host)
    coordinates = list(found["device_assignment"].list.i)
    assert coordinates == assignment.core_assignment.flatten().tolist()
    cores = zip(*[iter(coordinates)] * versions.TOPOLOGY_RANK)
    assert len(set(cores)) == pod.cores  # each once
    hosts = [tf.DeviceSpec.from_string(assignment.host_device(i)).task for i in range(len(inputs))]
    assert collections.Counter(hosts) == dict.fromkeys(range(HOSTS), len(inputs) // HOSTS)
    (replicated,) = of_kind(pod, "TPUReplicatedInput")
    assert replicated.attr["N"].i == len(inputs)


@pytest.mark.skipif(
    not versions.HAS_SHARDING_OP,
    reason="TPUStrategy takes an assignment of several replicas from TensorFlow 2.1 on",
)
def test_strategy_with_a_device_assignment(pod):
    shape = [1, 1, 1, 2] if pod.name == "v3-32" else [2, 1, 1, 1]
    assignment = placement.DeviceAssignment.build(topology(pod), shape, num_replicas=pod.cores // 2)
    strategy = TPUStrategy22(pod.resolver, assignment)
    assert strategy.num_replicas_in_sync == pod.cores // 2
    with strategy.scope():
        strategy.run(lambda x: x * 2.0, args=(tf.constant(1.0),))
    found = metadata(pod)
    assert (found["num_replicas"].i, found["num_cores_per_replica"].i) == (pod.cores // 2, 2)
    assert tpu.Topology(serialized=found["topology"].s).num_tasks == HOSTS


def test_steps_are_fed_by_each_host(pod):
    strategy = ContribStrategy(pod.resolver, steps_per_run=1)
    iterator = strategy.distribute_dataset(
        lambda: tf.data.Dataset.range(100).map(lambda x: tf.cast(x, tf.float32)).repeat()
    ).make_initializable_iterator()
    with strategy.scope():
        strategy.run_steps_on_dataset(
            lambda context, x: strategy.group(strategy.call_for_each_tower(tf.exp, x)),
            iterator,
            iterations=3,
        )
    assert metadata(pod)["num_replicas"].i == pod.cores
    fed = tasks(pod, "IteratorGetNext")
    assert fed == dict.fromkeys(range(HOSTS), pod.per_host)
    if not versions.HAS_INPUT_LIB:  # through each host's infeed
        infeed = [node for node in nodes(pod.graph) if node.op.startswith("InfeedEnqueue")]
        ordinals = [
            (tf.DeviceSpec.from_string(node.device).task, node.attr["device_ordinal"].i)
            for node in infeed
        ]
        assert sorted(ordinals) == [(h, i) for h in range(HOSTS) for i in range(pod.per_host)]


@pytest.mark.skipif(not versions.HAS_INPUT_LIB, reason="1.13 makes a loop of one step too")
def test_one_step_needs_no_first_values(pod):
    strategy = ContribStrategy(pod.resolver, steps_per_run=1)
    iterator = strategy.distribute_dataset(
        lambda: tf.data.Dataset.range(100).repeat()
    ).make_initializable_iterator()

    def step(context, x):
        context.set_last_step_output("x", tf.cast(x, tf.float32), VariableAggregation.SUM)
        return tf.no_op()

    with strategy.scope():
        done = strategy.run_steps_on_dataset(
            lambda context, x: strategy.call_for_each_tower(step, context, x),
            iterator,
            iterations=1,
        )
    assert done.last_step_outputs["x"].dtype == tf.float32
    assert metadata(pod)["num_replicas"].i == pod.cores
    assert not [node for node in nodes(pod.graph) if node.op in ("While", "NextIteration")]


@pytest.mark.slow
@pytest.mark.skipif(
    not versions.HAS_INPUT_LIB, reason="TensorFlow 1.13 has no distributed datasets"
)
def test_a_distributed_dataset_is_read_by_each_host(pod):
    strategy = TPUStrategy20(pod.resolver)
    data = tf.data.Dataset.from_tensor_slices(tf.ones([4 * pod.cores])).batch(
        pod.cores, drop_remainder=True
    )
    with strategy.scope():
        iterator = tf.compat.v1.data.make_initializable_iterator(
            strategy.experimental_distribute_dataset(data)
        )
        batch = iterator.get_next()
        strategy.experimental_run_v2(tf.exp, args=(batch,))
    assert len(strategy.experimental_local_results(batch)) == pod.cores
    read = tasks(pod, ("IteratorGetNext", "MultiDeviceIterator"))
    assert sorted(read) == list(range(HOSTS)) and len(set(read.values())) == 1
    assert {node.attr["N"].i for node in of_kind(pod, "TPUReplicatedInput")} == {pod.cores}


@pytest.mark.slow
def test_host_calls_leave_the_program(pod):
    native_tpu = tf.compat.v1.tpu if versions.TPU_IN_PYTHON else tf.contrib.tpu
    strategy = TPUStrategy20(pod.resolver)

    def step(x):
        native_tpu.outside_compilation(
            lambda y: tf.compat.v1.py_func(lambda z: z, [y], tf.float32, name="host_call"), x
        )
        return x * 2.0

    with strategy.scope():
        strategy.experimental_run_v2(step, args=(tf.constant(1.0),))
    (call,) = [node for node in nodes(pod.graph) if node.name.endswith("host_call")]
    assert call.attr["_xla_outside_compilation"].s
    assert call.attr["_tpu_replicate"].s == metadata(pod)["_tpu_replicate"].s
    multiplied = [node for node in of_kind(pod, "Mul") if node.attr["_tpu_replicate"].s]
    assert multiplied and not multiplied[0].attr["_xla_outside_compilation"].s
    strategy = ContribStrategy(pod.resolver, steps_per_run=1)
    hosts = [strategy.get_host_cpu_device(i) for i in range(HOSTS)]
    assert [tf.DeviceSpec.from_string(each).task for each in hosts] == list(range(HOSTS))
