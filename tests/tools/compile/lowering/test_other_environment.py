"""What an old TensorFlow traces, a newer one lowers.

On TensorFlow before 2.5 these tests need a newer one: set
TPUDIST_TEST_LOWER_WITH to the Python of its environment.
"""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tensorflow as tf

from tests import ROOT
from tests.tools.compile import harness
from tpudist import cli
from tpudist.contrib import tensorflow as contrib_tf
from tpudist.errors import CompileError
from tpudist.tfcompat import versions
from tpudist.tools.compile import step as steps
from tpudist.tools.compile.lowering import step_message, tracing
from tpudist.v2_0 import tensorflow as v2_tf

pytestmark = pytest.mark.slow

SUM = tf.distribute.ReduceOp.SUM
ARGUMENTS = (np.zeros([16, 4], "f"), np.zeros([16, 3], "f"))


def line(mark):
    return harness.line(__file__, mark).rstrip(": ")


@pytest.fixture
def graph():
    """A graph, which old code builds on every release."""
    with tf.Graph().as_default() as made:
        yield made


def strategy():
    resolver = contrib_tf.contrib.cluster_resolver.TPUClusterResolver("virtual:8")
    return contrib_tf.contrib.distribute.TPUStrategy(resolver)


def tower(images, labels):
    """A step as in contrib scripts."""
    weight = tf.compat.v1.get_variable("weight", [4, 3])
    logits = tf.matmul(images, weight)  # product
    loss = tf.reduce_mean((logits - labels) ** 2)
    context = contrib_tf.contrib.distribute.get_tower_context()
    loss += tf.cast(context.tower_id, tf.float32)
    train = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9).minimize(
        loss, global_step=tf.compat.v1.train.get_or_create_global_step()
    )  # trained
    with tf.control_dependencies([train]):
        return tf.identity(loss)


def message(fn, *args):
    return step_message.message(tracing.trace(strategy(), fn, args).step)


@pytest.mark.proof
@harness.needs_python
def test_a_graph_of_the_contrib_era(graph):
    program = steps.lower_step(strategy(), tower, ARGUMENTS, lower_with=harness.PYTHON)
    assert [each.name for each in program.parameters] == [
        "images",
        "labels",
        "weight",
        "weight/Momentum",
        "global_step",
    ]
    assert {program.parameters[i].name for i in program.updated} == {
        "weight",
        "weight/Momentum",
        "global_step",
    }
    assert [each[:3] for each in program.collectives] == [("all-reduce", "float32", (4, 3))]
    assert b"replica-id" in program.hlo and program.hlo.count(b"all-reduce") >= 1
    assert program.collectives[0].location.startswith(__file__.rsplit(os.sep, 1)[0])
    places = {name.split("/", 1)[1]: place for name, place in program.locations.items()}
    assert places["MatMul"].endswith(line("product"))
    assert program.tensorflow.endswith(", traced by %s" % versions.TF)


@pytest.mark.proof
@harness.needs_python
def test_an_unused_argument_is_a_parameter(graph):
    """In a message it is an input that the graph does not have."""
    program = steps.lower_step(
        strategy(), lambda x, y: tf.reduce_sum(y), ARGUMENTS, lower_with=harness.PYTHON
    )
    assert [each.name for each in program.parameters] == ["x", "y"]


@pytest.mark.proof
@harness.needs_python
def test_a_function_with_branches_and_loops():
    if not tf.executing_eagerly():
        pytest.skip("TensorFlow %s executes nothing eagerly by itself" % versions.TF)
    resolver = v2_tf.distribute.cluster_resolver.TPUClusterResolver(tpu="virtual:8")
    made = v2_tf.distribute.experimental.TPUStrategy(resolver)
    with made.scope():
        weight = tf.Variable(tf.ones([4, 3]), name="weight", aggregation=tf.VariableAggregation.SUM)

    @tf.function
    def inner(x):
        return tf.distribute.get_replica_context().all_reduce(SUM, x)

    def step(x, limit):
        total = tf.zeros([3])
        for i in tf.range(4):
            total += tf.reduce_sum(tf.matmul(x, weight), 0) * tf.cast(i, tf.float32)
        if tf.reduce_sum(total) > limit:
            total *= 2.0
        weight.assign_sub(weight * 0.0 + total)
        return inner(total)

    program = steps.lower_step(
        made, tf.function(step), (tf.ones([2, 4]), tf.ones([])), lower_with=harness.PYTHON
    )
    assert b"while" in program.hlo and b"conditional" in program.hlo
    assert [each.kind for each in program.collectives] == ["all-reduce"] * 2
    assert {each.shape for each in program.collectives} == {(4, 3), (3,)}
    assert [program.parameters[i].name for i in program.updated] == ["weight"]


@pytest.mark.proof
@harness.needs_python
def test_an_unsupported_op_is_named_by_its_line(graph):
    def step(x):
        y = tf.compat.v1.py_func(lambda x: x, [x], tf.float32)  # python
        return tf.reshape(y, [4])

    with pytest.raises(CompileError, match="no XLA kernel") as caught:
        step_message.lower(message(step, np.zeros([4], "f")), harness.PYTHON)
    assert line("python") in str(caught.value)


@harness.needs_python
def test_a_step_lowered_by_a_newer_release_compiles(graph, compiled):
    program = steps.lower_step(strategy(), tower, ARGUMENTS, lower_with=harness.PYTHON)
    report = compiled(program, "v5e:2x4", fast=True)
    assert report.ok and report.optimized[0].count == 1


@pytest.mark.skipif(versions.LOWERS_TO_HLO, reason="this TensorFlow lowers by itself")
def test_a_release_that_cannot_lower_says_what_to_do(graph):
    with pytest.raises(CompileError, match="--lower-with PYTHON"):
        steps.lower_step(strategy(), tower, ARGUMENTS)


@pytest.mark.skipif(versions.LOWERS_TO_HLO, reason="this TensorFlow lowers by itself")
@pytest.mark.parametrize(
    "command", [["compile", "{}:step", "--args", "f32[4]"], ["run", "--compile", "v3-8", "{}"]]
)
def test_a_release_that_cannot_lower_is_a_usage_error(tmp_path, capsys, command):
    script = tmp_path / "train.py"
    script.write_text("def step(x):\n    return x\n")
    code = cli.main([each.format(script) for each in command])
    assert code == 2 and "--lower-with PYTHON" in capsys.readouterr().err


def test_sums_over_groups_are_refused(graph):
    def step(x):
        return contrib_tf.contrib.tpu.cross_replica_sum(x, [[0, 1, 2, 3], [4, 5, 6, 7]])

    with pytest.raises(ValueError, match="sums over groups"):
        message(step, np.zeros([4], "f"))

    def one(x):
        return contrib_tf.contrib.tpu.cross_replica_sum(x, [list(range(8))])

    assert [each[0] for each in message(one, np.zeros([4], "f"))["collectives"]] == ["all-reduce"]


def test_a_missing_python_is_an_error(graph):
    with pytest.raises(CompileError, match="no-such-python"):
        step_message.lower(message(tower, *ARGUMENTS), os.path.join(os.sep, "no-such-python"))


def test_a_python_without_tensorflow_is_an_error(graph, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no tensorflow here; exit 1\n")
    python.chmod(0o755)
    with pytest.raises(CompileError, match="no tensorflow here"):
        step_message.lower(message(tower, *ARGUMENTS), str(python))


def test_a_resource_of_the_host_is_refused(graph):
    iterator = (
        tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(3))
        if versions.HAS_INPUT_LIB
        else (tf.data.Dataset.range(3).make_one_shot_iterator())
    )

    def step():
        return iterator.get_next()

    with pytest.raises(CompileError, match="as an argument"):
        message(step)


def run(answers, verb, *arguments):
    """Returns what a command of tpudist prints that lowers with the other Python."""
    done = subprocess.run(
        [sys.executable, "-m", "tpudist", verb, "--lower-with", harness.PYTHON, *arguments],
        universal_newlines=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, PYTHONPATH=ROOT, TPUDIST_CACHE=str(answers)),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@harness.needs_python
def test_the_command_line(tmp_path, compiler, answers):
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent("""
        import tensorflow as tf
        resolver = tf.contrib.cluster_resolver.TPUClusterResolver("my-tpu")
        distribution = tf.contrib.distribute.TPUStrategy(resolver)

        def tower(x):
            return tf.matmul(x, tf.get_variable("weight", [4, 3]))
        """)
    )
    output = run(answers, "compile", "--fast", str(script) + ":tower", "--args", "f32[8,4]")
    assert "compiles: v5e:2x4" in output and "variable weight" in output
    assert "traced by" in output


@pytest.mark.proof
@harness.needs_python
def test_an_unmodified_script(tmp_path, compiler, answers):
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent("""
        import tensorflow as tf
        resolver = tf.contrib.cluster_resolver.TPUClusterResolver("my-tpu")
        distribution = tf.contrib.distribute.TPUStrategy(resolver)

        def tower(x):
            loss = tf.reduce_mean(tf.matmul(x, tf.get_variable("weight", [4, 3])))
            with tf.control_dependencies([
                    tf.train.MomentumOptimizer(.1, .9).minimize(loss)]):
                return tf.identity(loss)

        with distribution.scope():
            distribution.call_for_each_tower(tower, tf.ones([8, 4]))
        print([variable.op.name for variable in tf.global_variables()])
        """)
    )
    output = run(answers, "run", "--compile", "v3-8", "--fast", str(script))
    assert "['weight', 'weight/Momentum']" in output
    assert "1 replica function\n" in output and "compiles: v3:2x2" in output
    assert "1 all-reduce" in output
