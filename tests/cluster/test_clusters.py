"""Programs give the same numbers on workers of a cluster as on one machine."""

import os

import pytest

from tests.cluster import programs
from tpudist.tfcompat import versions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not versions.HAS_CLUSTERS, reason="that TensorFlow has other workers"),
]

#: What a worker that is killed has as the last step.
KILLED = 7

SAVING = (
    programs.START
    + programs.STEP
    + """
import os

checkpoint = tf.train.Checkpoint(weights=weights, seen=seen, step=step, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, "kept", max_to_keep=1)
checkpoint.restore(manager.latest_checkpoint)
writer = tf.summary.create_file_writer("kept/events")
writer.init()
iterator = batches(start=int(step.numpy()))
print("from", step.numpy())
while step.numpy() < 12:
    loss = train(*next(iterator))
    step.assign_add(1)
    print("step", step.numpy(), "loss %.9f" % loss.numpy())
    last_worker = os.environ.get("TF_CONFIG", "").replace(" ", "").endswith('"index":1}}')
    if sys.argv[1:] == [str(step.numpy())] and last_worker:
        os.kill(os.getpid(), 9)
    if step.numpy() % 5 == 0:
        print("saved", manager.save())
print("seen", seen.numpy())
tf.saved_model.save(tf.Module(), "kept/export")
"""
)


def numbers(done):
    """[(name, value)] of the lines that a program's chief has printed."""
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line.split() for line in done.stdout.splitlines() if not line.startswith("[")]
    return [(" ".join(line[:-1]), float(line[-1])) for line in lines if line[0] != "saved"]


def agree(one, other):
    """Fails unless two programs printed the same names, and equal numbers to 1e-5."""
    assert [name for name, _ in one] == [name for name, _ in other]
    assert [value for _, value in one] == pytest.approx([value for _, value in other], abs=1e-5)


@pytest.mark.parametrize(
    "name, workers, cores",
    [
        ("STEPS", 2, 4),
        ("STEPS", 0, 8),
        ("TOWERS", 2, 4),
        ("LOOP", 2, 4),
        pytest.param("ESTIMATOR", 0, 8, marks=pytest.mark.proof),
        pytest.param("KERAS", 0, 8, marks=pytest.mark.proof),
        pytest.param("KERAS", 2, 4, marks=pytest.mark.proof),
        pytest.param("STEPS", 4, 2, marks=pytest.mark.proof),
        pytest.param("STEPS", 2, 1, marks=pytest.mark.proof),
        pytest.param("EMBEDDING", 2, 4, marks=pytest.mark.proof),
        pytest.param("EMBEDDING", 4, 2, marks=pytest.mark.proof),
    ],
)
def test_numbers_are_those_of_one_machine(run, name, workers, cores):
    program = getattr(programs, name)
    alone = numbers(run(program, tpu="virtual:%d" % (max(workers, 1) * cores)))
    assert len(alone) > 7
    agree(alone, numbers(run(program, tpu="cpus:%d" % cores, workers=workers, cores=cores)))


def test_towers_of_different_workers_draw_different_numbers_in_eager_mode(run):
    done = run(programs.TOWERS, workers=2)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [line.split("[drawn]")[1].split() for line in done.stdout.splitlines() if "[d" in line]
    assert len({number for row in rows for number in row}) == 16


def test_a_worker_is_killed_and_the_program_goes_on(run, tmp_path):
    alone = numbers(run(SAVING))
    for file in tmp_path.joinpath("kept").rglob("*"):
        if file.is_file():
            file.unlink()
    killed = run(SAVING, str(KILLED), workers=2)
    assert killed.returncode == 128 + 9
    assert "step %d loss" % KILLED in killed.stdout
    again = run(SAVING, workers=2)
    found = numbers(again)
    assert found[0] == ("from", 5)
    agree(found[1:], alone[6:])
    assert "[worker 1] saved kept/ckpt-2" in again.stdout.replace("./", "")
    files = sorted(os.listdir(str(tmp_path / "kept")))
    assert files == [
        "checkpoint", "ckpt-2.data-00000-of-00001", "ckpt-2.index", "events", "export",
    ]  # fmt: skip
    assert len(os.listdir(str(tmp_path / "kept" / "events"))) == 2  # one for each start


PARTING = (
    programs.START
    + programs.STEP
    + """
import os

worker = tf.constant(float('"index": 1' in os.environ["TF_CONFIG"]))
part = tf.function(lambda: strategy.run(lambda: weights.assign_add(tf.ones([5, 1]) * worker)))
iterator = batches()
for step in range(9):
    print("step %d" % step)
    train(*next(iterator))
    if step == 4:
        part()
"""
)


def test_variables_that_part_are_told(run):
    done = run(PARTING, workers=2, cores=2, options=("--check-replicas", "4"))
    assert done.returncode == 1
    assert "'Variable:0' of replica(s) 2, 3 is not as on replica 0" in done.stderr
    assert "Instead: strategy.reduce" in done.stderr
    assert "step 7" in done.stdout and "step 8" not in done.stdout  # the ninth call of run


def test_the_chief_alone_writes_files_of_keras(run, tmp_path):
    numbers(run(programs.KERAS_FILES, workers=2, cores=2))
    files = sorted(path.name for path in tmp_path.iterdir() if path.name != "train.py")
    assert files == ["best-0.h5", "kernel-0.weights.h5", "model-0.h5", "model-0.keras"]


@pytest.mark.parametrize(
    "script, message",
    [
        (
            "import tensorflow as tf\n"
            "resolver = tf.contrib.cluster_resolver.TPUClusterResolver('a')\n"
            "tf.contrib.distribute.TPUStrategy(resolver)\n",
            "'cluster:cpus:2' in a graph",
        ),
        (
            programs.START
            + "few = tf.tpu.experimental.DeviceAssignment.build(topology, num_replicas=1)\n"
            + "tf.distribute.experimental.TPUStrategy(resolver, device_assignment=few)\n"
            + "strategy.run\n",
            "replicas on the hosts [0]",
        ),
        (
            programs.START
            + "with strategy.scope():\n"
            + "    tf.function(lambda x: tf.Variable(x))(tf.constant(0.0))\n",
            "make it in strategy.scope(), and assign it",
        ),
        (programs.START + "strategy.reduce(SUM, tf.constant(1.0), axis=None)\n", "SUM of <tf.T"),
    ],
    ids=["graph", "few cores", "a variable", "a sum"],
)
def test_what_the_workers_cannot_do_is_refused(run, script, message):
    done = run(script, workers=2, cores=2)
    assert done.returncode == 1
    assert message in done.stderr and "Instead:" in done.stderr
