"""TPUEstimator on slices of several hosts: what its program has of feeding and host_call.

TensorFlow's own, which a real TPU gets while TensorFlow has one: until 2.15. And tpudist's,
which is a base class on every release.
"""

import collections

import pytest
import tensorflow as tf

from tests.native import described
from tests.native.test_native_graph import nodes
from tests.native.test_pods import HOSTS, PODS
from tpudist.contrib.tpu import CrossShardOptimizer
from tpudist.errors import ArgumentError
from tpudist.estimator import tpu as tpu_estimator
from tpudist.system import cluster
from tpudist.tfcompat import estimators, tpu, versions

TENSORFLOWS = pytest.mark.skipif(
    estimators.native_tpu_estimator is None, reason="TensorFlow has no TPUEstimator from 2.16 on"
)

tf1 = tf.compat.v1
ADDRESSES = ",".join("grpc://10.0.0.%d:8470" % (2 + host) for host in range(HOSTS))


class Built(Exception):
    """The graph is built; there is no TPU to run it."""


@pytest.fixture(params=sorted(PODS))
def pod(request, monkeypatch):
    """(a slice's name, devices, of one host), which the metadata of a TPU describes."""
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    cores, per_host = PODS[request.param]
    metadata = described.DescribedResolver(cores, HOSTS).get_tpu_system_metadata()
    monkeypatch.setattr(
        tpu.tpu_system_metadata, "_query_tpu_system_metadata", lambda *_, **__: metadata
    )
    return request.param, cores, per_host


def model(features, labels, mode, params):
    x = tf.reshape(features, [params["batch_size"], 1])
    weight = tf1.get_variable("weight", [1, 1])
    loss = tf.reduce_mean(input_tensor=tf.matmul(x, weight))
    optimizer = CrossShardOptimizer(tf1.train.GradientDescentOptimizer(0.1))
    train = optimizer.minimize(loss, global_step=tf1.train.get_global_step())
    return tpu_estimator.TPUEstimatorSpec(
        mode, loss=loss, train_op=train, host_call=(told, [tf.reshape(loss, [1])])
    )


def told(losses):
    """The host_call: what is told of a step, on the host."""
    return tf1.py_func(lambda x: x, [losses], tf.float32, name="host_call")


def rows(params):
    return (
        tf.data.Dataset.from_tensor_slices(tf.ones([1024]))
        .repeat()
        .batch(params["batch_size"], drop_remainder=True)
    )


@pytest.fixture
def graph(pod, monkeypatch, tmp_path):
    """The graph of a training on a slice."""
    _, cores, _ = pod
    config = tpu_estimator.RunConfig(
        cluster=cluster.TPUClusterResolver(ADDRESSES),
        model_dir=str(tmp_path),
        tpu_config=tpu_estimator.TPUConfig(iterations_per_loop=10),
    )
    estimator = tpu_estimator.TPUEstimator(model, config=config, train_batch_size=2 * cores)
    assert isinstance(estimator, estimators.native_tpu_estimator)
    built = []

    def keep(*unused):
        built.append(tf1.get_default_graph())
        raise Built

    monkeypatch.setattr(estimator, "_train_with_estimator_spec", keep)
    with pytest.raises(Built):
        estimator.train(rows, steps=10)
    return built[0]


def cores_of(graph, kind):
    """[(host, core)] that ops of a kind are for, sorted."""
    found = [node for node in nodes(graph) if node.op == kind]
    assert found and all(spec(node).device_type == "CPU" for node in found)
    return sorted((spec(node).task, node.attr["device_ordinal"].i) for node in found)


def spec(node):
    return tf.DeviceSpec.from_string(node.device)


@TENSORFLOWS
def test_each_core_is_fed_and_read_by_its_host(pod, graph):
    _, cores, per_host = pod
    every = [(host, core) for host in range(HOSTS) for core in range(per_host)]
    assert cores_of(graph, "InfeedEnqueueTuple") == every
    assert cores_of(graph, "OutfeedDequeueTuple") == every
    (metadata,) = {node.attr["num_replicas"].i for node in nodes(graph) if "Metadata" in node.op}
    assert metadata == cores


@TENSORFLOWS
def test_host_call_is_on_the_first_host(pod, graph):
    _, cores, _ = pod
    by_name = {node.name: node for node in graph.as_graph_def().node}
    (call,) = [node for node in by_name.values() if node.name.endswith("host_call")]
    assert (spec(call).job, spec(call).task, spec(call).device_type) == ("worker", 0, "CPU")
    assert not call.attr["_tpu_replicate"].s
    joined = by_name[call.input[0]]
    read = [by_name[name.split(":")[0]] for name in joined.input[:-1]]
    assert joined.op == "ConcatV2" and len(read) == cores
    hosts = collections.Counter(spec(node).task for node in read)
    assert hosts == dict.fromkeys(range(HOSTS), cores // HOSTS)


@TENSORFLOWS
def test_what_the_host_call_gets_leaves_the_program_once(graph):
    definition = graph.as_graph_def()
    bodies = [node for function in definition.library.function for node in function.node_def]
    in_the_program = [node for node in definition.node if node.attr["_tpu_replicate"].s] + bodies
    (sent,) = [node for node in nodes(graph) if node.op.startswith("OutfeedEnqueue")]
    assert sent in in_the_program


class Mine(tpu_estimator.TPUEstimator):
    """A base class of TensorFlow's own it is not."""


class Stops(tf1.train.SessionRunHook):
    """Ends a training when its graph is built."""

    def begin(self):
        self.graph = tf1.get_default_graph()
        raise Built


def without_host_call(features, labels, mode, params):
    return model(features, labels, mode, params)._replace(host_call=None)


@pytest.fixture
def ours(pod, monkeypatch, tmp_path):
    """(its name, devices, of one host) of a slice, and an estimator of tpudist's on it."""
    _, cores, _ = pod
    resolver = described.DescribedResolver(cores, HOSTS, "grpc://10.0.0.2:8470")
    described.answer_for(monkeypatch, resolver)
    config = tpu_estimator.RunConfig(
        cluster=resolver,
        model_dir=str(tmp_path),
        tpu_config=tpu_estimator.TPUConfig(iterations_per_loop=10),
    )
    return lambda model_fn: Mine(model_fn, config=config, train_batch_size=2 * cores)


FED = pytest.mark.skipif(not versions.HAS_INPUT_LIB, reason="1.13: refused, see below")


@FED
def test_ours_is_one_program_of_all_cores(pod, ours):
    stops = Stops()
    with tf.Graph().as_default(), pytest.raises(Built):
        ours(without_host_call).train(rows, steps=10, hooks=[stops])
    (metadata,) = [node for node in nodes(stops.graph) if node.op == "TPUReplicateMetadata"]
    assert metadata.attr["num_replicas"].i == pod[1]
    read = [node for node in nodes(stops.graph) if node.op == "IteratorGetNext"]
    assert len(read) == HOSTS
    assert {node.attr["N"].i for node in nodes(stops.graph) if "ReplicatedInput" in node.op} == {
        pod[1]
    }


@FED
def test_ours_refuses_what_it_cannot_send_to_the_host(ours):
    with tf.Graph().as_default(), pytest.raises(ArgumentError, match="host_call") as caught:
        ours(model).train(rows, steps=10)
    assert caught.value.why and "2.15" in caught.value.instead


@pytest.mark.skipif(versions.HAS_INPUT_LIB, reason="TensorFlow 1.13 alone feeds datasets alone")
def test_ours_is_refused(ours):
    with pytest.raises(ArgumentError, match="a subclass of TPUEstimator on a real TPU") as caught:
        ours(without_host_call)
    assert caught.value.why and "1.14" in caught.value.instead
