"""Files that a program on a cluster writes itself: once by TensorFlow, else told."""

import pytest

from tests.cluster import programs
from tpudist.tfcompat import versions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not versions.HAS_CLUSTERS, reason="that TensorFlow has other workers"),
]

WRITING = """
import json, os, time
import tensorflow as tf

number = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="a")
strategy = tf.distribute.experimental.TPUStrategy(resolver)
slow = lambda: number or time.sleep(1)
for _ in range(2):
    slow()
    with tf.io.gfile.GFile("log", "a") as file:
        slow()
        file.write("x")
    print("log", open("log").read())
slow()
with tf.io.TFRecordWriter(path="rows") as writer:
    writer.write(b"one")
print("rows", len(list(tf.data.TFRecordDataset("rows"))))
slow()
tf.io.write_file("text", "12")
print("text", tf.io.read_file("text").numpy())
file = tf.io.gfile.GFile("own-%d" % number, mode="w")
file.write("x")
file.close()
tf.profiler.experimental.start("profile-%d" % number)
tf.profiler.experimental.stop()
"""


@pytest.mark.skipif(not versions.WORKERS_ARE_COORDINATED, reason="older workers do not wait")
def test_what_the_program_writes_by_tensorflow_is_written_once_and_read_by_all(run, tmp_path):
    done = run(WRITING, workers=2, cores="virtual:1")
    assert done.returncode == 0, done.stderr
    lines = sorted(done.stdout.splitlines())
    expected = ["log x", "log xx", "rows 1", "text b'12'"]
    assert lines == ["[worker 1] " + line for line in expected] + expected
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["log", "own-0", "own-1", "profile-0", "rows", "text", "train.py"]
    assert "every worker writes" not in done.stderr


OPENING = (
    programs.START
    + """
tf.saved_model.save(tf.Module(), "module")
if hasattr(tf.data.Dataset, "save"):
    tf.data.Dataset.range(3).save("rows")
    assert len(list(tf.data.Dataset.load("rows"))) == 3
open(__file__, encoding="latin-1").close()
%s
with open("log", "a") as log:
    log.write("x")
open("log").close()
"""
)


@pytest.mark.parametrize(
    "line",
    [
        'np.save("rows.npy", xs)',
        'open(mode="w", file="rows.npy").close()',
        'import pathlib; pathlib.Path("rows.npy").write_text("x")',
    ],
)
def test_a_file_that_the_program_writes_is_reported_once_with_its_line(run, tmp_path, line):
    script = OPENING % line
    done = run(script, workers=2, cores="virtual:2")
    assert done.returncode == 0, done.stderr
    assert [each for each in done.stderr.splitlines() if "every worker writes" in each] == [
        "tpudist run: train.py:%d: every worker writes rows.npy. Instead: "
        "if strategy.extended.should_checkpoint: before it" % (script.splitlines().index(line) + 1)
    ]
    assert tmp_path.joinpath("log").read_text() == "xx"  # it is written as without the line
