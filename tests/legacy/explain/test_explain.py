"""What ``tpudist run --explain`` writes as JSON."""

import json
import subprocess
import sys

import pytest
import tensorflow as tf

from tests.legacy.explain import conftest

LINE = conftest.step.__code__.co_firstlineno


def place(offset):
    return "%s:%d" % (conftest.__file__, LINE + offset)


def test_the_step_is_described_part_by_part(steps):
    (step,) = steps
    assert step["name"] == "step (%s)" % place(0) and step["replicas"] == 4
    assert len(step["segments"]) == 3 and len(step["meetings"]) == 2
    assert 0 < step["share"] < 1
    first, second = step["meetings"]
    assert first["collectives"] == [{"kind": "all-reduce", "tensors": 1, "bytes": 5 * 2 * 4}]
    assert second["collectives"] == [{"kind": "all-reduce", "tensors": 1, "bytes": 4}]
    assert first["place"] in (place(4), place(5))
    assert [each["place"] for each in step["refused"]] == [place(5)]
    alone = {each["op_type"] for part in step["segments"] for each in part["per_replica"]}
    assert alone == {"AsString", "StringLength"}
    assert step["next"] == [
        place(5) + ": move it out of the replica function, or into "
        "tf.compat.v1.tpu.outside_compilation"
    ]


def test_what_replicas_do_in_a_loop_is_one_meeting():
    """The ops of the loop count in the segment that follows it."""

    def step():
        def body(i, x):
            sum_ = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, x)
            return i + 1, tf.sin(sum_)

        return tf.while_loop(lambda i, x: i < 3, body, (0, tf.ones([2])))[1] * 2

    (described,) = conftest.explained(step)
    (meeting,) = described["meetings"]
    assert meeting["collectives"] == [{"kind": "all-reduce", "tensors": 1, "bytes": 8}]
    assert meeting["place"].startswith(__file__)
    assert len(described["segments"]) == 2 and described["share"] == 1.0


@pytest.mark.slow
def test_run_writes_the_file(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import tensorflow as tf\n"
        "resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='virtual:4')\n"
        "strategy = tf.distribute.experimental.TPUStrategy(resolver)\n"
        "@tf.function\n"
        "def step(x):\n"
        "    return strategy.run(tf.square, (x,))\n"
        "step(tf.ones([2, 2]))\n"
    )
    options = ["--explain", "--json", "step.json"]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tpudist", "run", *options, str(script)],
        cwd=str(tmp_path),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (step,) = json.loads((tmp_path / "step.json").read_text())
    assert step["share"] == 1 and step["next"][0].startswith("tpudist run --compile")
    assert "next: tpudist run --compile" in done.stdout
