"""What is told of a step function: which share is batched, and why the rest is not."""

import subprocess
import sys

import pytest
import tensorflow as tf

from tpudist.system import cluster
from tpudist.tfcompat import versions
from tpudist.v2_2.strategy import TPUStrategy
from tpudist.virtual import explanations

batches = pytest.mark.skipif(not versions.TRACE_ONCE, reason="before 2.4 nothing is batched")


def run(strategy, fn):
    tf.function(lambda: strategy.run(fn, args=(tf.ones([4, 4]) * 3.0,)))()
    return strategy.extended.explain()


def line_of(text):
    with open(__file__.replace(".pyc", ".py")) as file:
        return next(i for i, line in enumerate(file, 1) if text in line and "line_of" not in line)


def masked(x):
    mine = x * tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)
    tf.print("here", mine[0, 0], output_stream=sys.stderr)  # a print
    rounded = tf.quantization.fake_quant_with_min_max_vars(mine, 0.0, 9.0)  # rounded
    return tf.reduce_sum((mine @ x) * rounded)


def all_batched(x):
    mine = x * tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)
    return tf.reduce_sum(mine @ x)


@batches
def test_what_is_done_per_replica_is_told_with_its_line_and_reason(strategy):
    told = run(strategy, masked)
    assert told.startswith("masked (%s:%d): " % (__file__, line_of("def masked")))
    assert " % of its ops batched for 4 replicas" in told and "100 %" not in told
    printed, rounded = line_of("# a print"), line_of("# rounded")
    assert "%s:%d: PrintV2 once per replica: it has an effect" % (__file__, printed) in told
    reason = "FakeQuantWithMinMaxVars once per replica: no batching rule"
    assert "%s:%d: %s" % (__file__, rounded, reason) in told
    assert "MatMul once" not in told


@batches
def test_a_function_that_is_batched_has_nothing_to_tell(strategy):
    told = run(strategy, all_batched)
    assert "100 % of its ops batched for 4 replicas" in told
    assert "once per replica" not in told


@batches
def test_a_function_of_one_replica_is_not_batched():
    told = run(TPUStrategy(cluster.TPUClusterResolver("virtual:1")), all_batched)
    assert "once per replica: there is one replica" in told


def test_nothing_traced_is_told(strategy):
    assert strategy.extended.explain().startswith("no step function was batched")


@pytest.mark.slow
@batches
def test_run_explain_tells_it_after_the_script(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import tensorflow as tf\n"
        "resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='virtual:4')\n"
        "strategy = tf.distribute.experimental.TPUStrategy(resolver)\n"
        "@tf.function\n"
        "def step(x):\n"
        "    def replica(x):\n"
        "        tf.print('seen')\n"
        "        return x @ x\n"
        "    return strategy.run(replica, (x,))\n"
        "step(tf.ones([2, 2]))\n"
        "print('trained')\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tpudist", "run", "--explain", str(script)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    script_said, told = done.stdout.split("trained\n")
    assert "replica (%s:" % script in told
    assert "%s:7: PrintV2 once per replica: it has an effect" % script in told


def test_a_line_is_never_of_a_file_that_autograph_writes():
    """Where TensorFlow does not map it to the user's, it is the line of the call."""
    here = (__file__, 12, "run", "")
    for name in ("__autograph_generated_fileab12cd34.py", "tmpab12cd34.py"):
        op = type("Op", (), {"traceback": [here, ("/tmp/" + name, 5, "step", "")]})
        assert explanations.place(op) == __file__ + ":12"
