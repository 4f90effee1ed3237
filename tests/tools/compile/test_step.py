"""``tpudist.compile_step`` from a function to the report."""

import os

import pytest
import tensorflow as tf

import tpudist
from tests.tools.compile import harness
from tpudist.errors import CompileError, TopologyError

pytestmark = harness.lowers_here


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pod", "shape", "replicas"),
    [("v3-32", "v3:4x4", 32), ("v4-32", "v4:2x2x4", 16), ("v5e:4x8", "v5e:4x8", 32)],
)
def test_a_slice_of_several_hosts(compiler, pod, shape, replicas):
    def step(x):
        context = tf.distribute.get_replica_context()
        return context.all_reduce(tf.distribute.ReduceOp.SUM, tf.reduce_sum(x))

    strategy, args = harness.strategy(replicas), (tf.TensorSpec([8], tf.float32),)
    report = tpudist.compile_step(strategy, step, args, topology=pod, fast=True)
    assert (report.target.topology, report.target.replicas) == (shape, replicas)
    assert [(each.kind, each.count) for each in report.optimized] == [("all-reduce", 1)]


def test_compile_step_from_python(compiler):
    report = tpudist.compile_step(
        harness.strategy(),
        lambda x: tf.matmul(x, x),
        (tf.TensorSpec([8, 8], tf.float32),),
        topology="v6e-8",
        fast=True,
    )
    assert report.ok and report.target.replicas == 8
    assert "compile_step" in dir(tpudist)


def test_replicas_that_do_not_fit_are_refused_before_any_trace():
    def step():
        raise AssertionError("traced")

    with pytest.raises(TopologyError, match="8 replicas"):
        tpudist.compile_step(harness.strategy(), step, topology="v5e:2x2")


def test_an_unsupported_op_is_refused_before_any_compiler(monkeypatch):
    monkeypatch.setenv("TPUDIST_LIBTPU", os.path.join(os.sep, "nowhere"))
    with pytest.raises(CompileError, match="PrintV2"):
        tpudist.compile_step(harness.strategy(), lambda x: tf.print(x), (tf.ones([2]),))
