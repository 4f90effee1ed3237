"""The programs of TensorFlow's own TPUStrategy, compiled too.

The graphs are built on a described TPU system; see tests/native. TensorFlow
before 2.5 needs a newer one, as in test_other_environment.
"""

import pytest
import tensorflow as tf

import tpudist
from tests.native import described
from tests.tools.compile import harness
from tpudist.errors import CompileError
from tpudist.tfcompat import versions
from tpudist.tools.compile.lowering import native_programs, step_message
from tpudist.v2_0.strategy import TPUStrategy

pytestmark = harness.needs_python


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


@pytest.fixture
def strategy(graph, monkeypatch):
    resolver = described.DescribedResolver(8)
    described.answer_for(monkeypatch, resolver)
    return TPUStrategy(resolver)


def line(mark):
    return harness.line(__file__, mark).rstrip(": ")


def train(images, labels):
    weight = tf.compat.v1.get_variable("weight", [4, 3], use_resource=True)
    loss = tf.reduce_mean((tf.matmul(images, weight) - labels) ** 2)  # loss
    context = tf.distribute.get_replica_context()
    loss += tf.cast(context.replica_id_in_sync_group, tf.float32)
    done = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)  # trained
    with tf.control_dependencies([done]):
        return tf.identity(loss)


def build(strategy, step, *args):
    with strategy.scope():
        return TPUStrategy.experimental_run_v2(strategy, step, args=args)


@pytest.mark.slow
def test_a_training_step(graph, strategy):
    build(strategy, train, tf.zeros([16, 4]), tf.zeros([16, 3]))
    (message,) = native_programs.messages(graph)
    program = step_message.lower(message, harness.PYTHON)
    assert (program.replicas, program.partitions) == (8, 1)
    assert sorted((each.kind == "variable", each.shape) for each in program.parameters) == [
        (False, (16, 3)),
        (False, (16, 4)),
        (True, (4, 3)),
        (True, (4, 3)),
    ]
    assert [program.parameters[i].name for i in program.updated] == ["weight", "weight/Momentum"]
    assert [each.shape for each in program.outputs] == [()]
    assert [each[:3] for each in program.collectives] == [("all-reduce", "float32", (4, 3))]
    assert program.collectives[0].location.endswith(line("trained"))
    places = {name.split("/", 1)[1]: place for name, place in program.locations.items()}
    assert places["MatMul"].endswith(line("loss"))
    if versions.HAS_FUNCTION:  # 1.13 gives every replica the id 0
        assert b"replica-id" in program.hlo


@pytest.mark.slow
def test_it_compiles(graph, strategy, compiler, answers, monkeypatch):
    monkeypatch.setenv("TPUDIST_CACHE", str(answers))
    build(strategy, train, tf.zeros([16, 4]), tf.zeros([16, 3]))
    (report,) = tpudist.compile_graph(graph, "v3-8", fast=True, lower_with=harness.PYTHON)
    assert report.ok and report.optimized[0].count == 1
    assert {each.name for each in report.arguments if each.kind == "variable"} == {
        "weight",
        "weight/Momentum",
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, cores", [pytest.param("v3-32", 32, marks=pytest.mark.proof), ("v4-32", 16)]
)
def test_a_program_of_several_hosts_compiles(graph, monkeypatch, compiler, answers, name, cores):
    monkeypatch.setenv("TPUDIST_CACHE", str(answers))
    resolver = described.DescribedResolver(cores, 4, "grpc://10.0.0.2:8470")
    described.answer_for(monkeypatch, resolver)
    build(TPUStrategy(resolver), train, tf.zeros([16, 4]), tf.zeros([16, 3]))
    (report,) = tpudist.compile_graph(graph, name, fast=True, lower_with=harness.PYTHON)
    assert report.ok and report.target.replicas == cores
    assert [each.count for each in report.optimized] == [1]


def test_two_programs(graph, strategy):
    build(strategy, lambda x: x * 2.0, tf.zeros([4]))
    build(strategy, lambda x: x + 1.0, tf.zeros([5]))
    assert [message["inputs"][0]["shape"] for message in native_programs.messages(graph)] == [
        [4],
        [5],
    ]


@pytest.mark.proof
@pytest.mark.slow
def test_an_unsupported_op_is_named_by_its_line(graph, strategy):
    def step(x):
        return tf.reshape(tf.compat.v1.py_func(lambda y: y, [x], tf.float32), [4])  # python

    build(strategy, step, tf.zeros([4]))
    (message,) = native_programs.messages(graph)
    with pytest.raises(CompileError, match="no XLA kernel") as caught:
        step_message.lower(message, harness.PYTHON)
    assert line("python") in str(caught.value)


def test_a_graph_without_a_program(graph):
    tf.constant(1.0)
    with pytest.raises(CompileError, match="no op of it is of a TPUReplicate"):
        tpudist.compile_graph(graph)
