"""Programs give the same numbers on workers of a cluster as on one machine."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from tests import ROOT
from tests.cluster import programs, returned
from tpudist.tfcompat import versions
from tpudist.tools.launch import commands

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
    ("name", "workers", "cores"),
    [
        ("STEPS", 2, "cpus:4"),
        ("STEPS", 0, "cpus:8"),
        ("TOWERS", 2, "cpus:4"),
        ("LOOP", 2, "cpus:4"),
        ("STEPS", 2, "virtual:4"),
        ("TOGETHER", 2, "virtual:4"),
        ("LOOP", 2, "virtual:4"),
        ("SESSIONS", 2, "virtual:4"),
        *(
            pytest.param(*case, marks=pytest.mark.proof)
            for case in [
                ("ESTIMATOR", 0, "cpus:8"),
                ("KERAS", 0, "cpus:8"),
                ("KERAS", 2, "cpus:4"),
                ("STEPS", 4, "cpus:2"),
                ("STEPS", 2, "cpus:1"),
                ("EMBEDDING", 2, "cpus:4"),
                ("EMBEDDING", 4, "cpus:2"),
                ("TOGETHER", 2, "virtual:1"),
                ("TOWERS", 2, "virtual:4"),
                ("SESSIONS", 4, "virtual:2"),
                ("ESTIMATOR", 2, "virtual:4"),
                ("KERAS", 2, "virtual:4"),
                ("EMBEDDING", 2, "virtual:4"),
                ("TOGETHER", 4, "virtual:2"),
                ("LOOP", 4, "virtual:2"),
                ("KERAS", 4, "virtual:2"),
                ("EMBEDDING", 4, "virtual:2"),
            ]
        ),
    ],
)
def test_numbers_are_those_of_one_machine(run, name, workers, cores):
    program = getattr(programs, name)
    count = int(cores.split(":")[1])
    alone = numbers(run(program, tpu="virtual:%d" % (max(workers, 1) * count)))
    assert len(alone) > 7
    agree(alone, numbers(run(program, tpu=cores, workers=workers, cores=cores)))


@pytest.mark.parametrize(
    ("workers", "cores"),
    [
        (2, "virtual:2"),
        (2, "cpus:1"),
        pytest.param(2, "virtual:1", marks=pytest.mark.proof),
        pytest.param(2, "cpus:2", marks=pytest.mark.proof),
        pytest.param(4, "virtual:2", marks=pytest.mark.proof),
    ],
)
def test_every_worker_has_the_rows_of_all(run, workers, cores):
    alone = numbers(run(returned.RESULTS, tpu="virtual:%d" % (workers * int(cores[-1]))))
    done = run(returned.RESULTS, workers=workers, cores=cores)
    agree(alone, numbers(done))
    last = "[worker %d] " % (workers - 1)
    lines = [line[len(last) :] for line in done.stdout.splitlines() if line.startswith(last)]
    assert lines == [line for line in done.stdout.splitlines() if not line.startswith("[")]


@pytest.mark.skipif(not versions.WORKERS_ARE_COORDINATED, reason="older workers do not wait")
def test_what_is_saved_is_what_every_worker_reads_then(run):
    alone = numbers(run(returned.READS, tpu="virtual:2"))
    done = run(returned.READS, workers=2, cores="virtual:1")
    agree(alone, numbers(done))
    own = [line[11:] for line in done.stdout.splitlines() if line.startswith("[worker 1] ")]
    assert own == [line for line in done.stdout.splitlines() if not line.startswith("[")]


def test_texts_of_other_workers_are_refused(run):
    done = run(
        programs.START
        + """
words = strategy.experimental_distribute_values_from_function(lambda context: tf.constant("a"))
strategy.experimental_local_results(words)
""",
        workers=2,
        cores="virtual:1",
    )
    assert done.returncode == 1
    assert "TensorFlow's collectives send numbers. Instead: numbers that stand" in done.stderr


def test_all_hosts_have_the_values_of_the_chief_and_of_its_first_replica(run):
    done = run(programs.TOGETHER, workers=2, cores="virtual:4")
    assert done.returncode == 0, done.stderr[-3000:]
    lines = sorted(line.replace("[worker 1] ", "") for line in done.stdout.splitlines())
    assert lines[::2] == lines[1::2]
    assert "value 1.000000000" in lines


@pytest.mark.parametrize("cores", ["cpus:4", "virtual:4"])
def test_towers_of_different_workers_draw_different_numbers_in_eager_mode(run, cores):
    done = run(programs.TOWERS, workers=2, cores=cores)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [line.split("[drawn]")[1].split() for line in done.stdout.splitlines() if "[d" in line]
    assert len({number for row in rows for number in row}) == 16


@pytest.mark.parametrize("cores", ["cpus:4", pytest.param("virtual:4", marks=pytest.mark.proof)])
def test_a_worker_is_killed_and_the_program_goes_on(run, tmp_path, cores):
    alone = numbers(run(SAVING))
    for file in tmp_path.joinpath("kept").rglob("*"):
        if file.is_file():
            file.unlink()
    killed = run(SAVING, str(KILLED), workers=2, cores=cores)
    assert killed.returncode == 128 + 9
    assert "step %d loss" % KILLED in killed.stdout
    again = run(SAVING, workers=2, cores=cores)
    found = numbers(again)
    assert found[0] == ("from", 5)
    agree(found[1:], alone[6:])
    assert "[worker 1] saved kept/ckpt-2" in again.stdout.replace("./", "")
    files = sorted(os.listdir(str(tmp_path / "kept")))
    assert files == [
        "checkpoint", "ckpt-2.data-00000-of-00001", "ckpt-2.index", "events", "export",
    ]  # fmt: skip
    assert len(os.listdir(str(tmp_path / "kept" / "events"))) == 2  # one for each start


@pytest.mark.proof
def test_a_program_that_is_killed_once_goes_on_by_itself(tmp_path, run):
    alone = numbers(run(SAVING))
    shutil.rmtree(str(tmp_path / "kept"))
    once = "and not os.path.exists('killed'):\n        open('killed', 'w').close()"
    script = SAVING.replace("and last_worker:", "and last_worker " + once)
    assert script != SAVING
    options = ("--max-restarts", "1")
    found = numbers(run(script, str(KILLED), workers=2, cores="virtual:4", launched=options))
    again = found[found.index(("from", 5)) + 1 :]
    agree(again, alone[6:])


def test_the_chief_alone_writes_files_of_sessions(run, tmp_path):
    numbers(run(programs.SESSIONS, workers=2, cores="virtual:2"))
    assert sorted(os.listdir(str(tmp_path / "kept"))) == [
        "checkpoint", "events", "model-20.data-00000-of-00001", "model-20.index", "model-20.meta",
    ]  # fmt: skip
    for folder in ("kept/events", "monitored"):
        files = os.listdir(str(tmp_path / folder))
        assert sum("tfevents" in name for name in files) == 1


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


ELSEWHERE = (
    programs.START
    + programs.STEP
    + """
import os


def last():
    return tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(1.0))


iterator = batches()
for step in range(9):
    print("step %%d" %% step)
    if step == 4 and '"index": 1' in os.environ["TF_CONFIG"]:
        %s
    train(*next(iterator))
"""
)


@pytest.mark.skipif(not versions.WORKERS_ARE_COORDINATED, reason="workers cannot tell each other")
@pytest.mark.parametrize("cores", ["virtual:2", pytest.param("cpus:2", marks=pytest.mark.proof)])
@pytest.mark.parametrize("line", ["tf.function(lambda: strategy.run(last))()", "break"])
def test_a_worker_at_another_collective_is_told_with_both_places(run, line, cores):
    script = ELSEWHERE % line
    done = run(script, workers=2, cores=cores)
    assert done.returncode == 1
    assert "step 4" in done.stdout and "step 5" not in done.stdout  # no wrong number
    lines = script.splitlines()
    ends = line == "break"
    own = "the program's end" if ends else "train.py:%d" % (1 + lines.index("        " + line))
    other = "train.py:%d" % (1 + lines.index("    train(*next(iterator))"))
    told = [each for each in done.stderr.splitlines() if "waits in" in each]
    assert told and own in told[0] and other in told[0] and "Instead: the same calls" in told[0]


@pytest.mark.parametrize("cores", ["cpus:2", "virtual:2"])
def test_variables_that_part_are_told(run, cores):
    done = run(PARTING, workers=2, cores=cores, options=("--check-replicas", "4"))
    assert done.returncode == 1
    assert "'Variable:0' of replica(s) 2, 3 is not as on replica 0" in done.stderr
    assert "Instead: strategy.reduce" in done.stderr
    assert "step 7" in done.stdout and "step 8" not in done.stdout  # the ninth call of run


PART = "tf.function(lambda: strategy.run(lambda: weights.assign(tf.ones([5, 1]) * worker)))()"
RESTORED = "tf.train.Checkpoint(weights=weights).read('kept' + str(int(worker)))"


@pytest.mark.skipif(not versions.WORKERS_ARE_COORDINATED, reason="workers cannot tell each other")
@pytest.mark.parametrize("line", [PART, RESTORED], ids=["the end", "a restore"])
def test_variables_that_differ_at_the_end_or_after_a_restore_are_told_without_being_asked(
    run, tmp_path, line
):
    for kept in range(2):
        weights = tf.Variable(tf.fill([5, 1], float(kept)))
        tf.train.Checkpoint(weights=weights).write(str(tmp_path / ("kept%d" % kept)))
    done = run(PARTING.split("part =")[0] + line, workers=2, cores="virtual:2")
    assert done.returncode == 0, done.stderr
    told = [each for each in done.stderr.splitlines() if "is not as on replica 0" in each]
    assert told and "tpudist: the variable 'Variable:0' of replica(s) 2, 3" in told[0]


def test_the_chief_alone_writes_files_of_keras(run, tmp_path):
    numbers(run(programs.KERAS_FILES, workers=2, cores=2))
    known = ("train.py", "folder-0")  # Keras 3 writes no folder
    files = sorted(path.name for path in tmp_path.iterdir() if path.name not in known)
    assert files == ["best-0.h5", "kernel-0.weights.h5", "model-0.h5", "model-0.keras"]


SLOW = """
import time
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="any")
strategy = tf.distribute.experimental.TPUStrategy(resolver)
with strategy.scope():
    saved = tf.train.Checkpoint(variable=tf.Variable(1.0))
if not strategy.extended.should_checkpoint:
    time.sleep(3)
print(saved.save("model/last"))
"""


def test_the_chief_ends_after_a_slower_worker(run):
    done = run(SLOW, workers=2, cores="virtual:2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("model/last-1") == 2


LISTENING = """
import json, os
address = json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"][0]
port = "%04X" % int(address.split(":")[1])
for name in ("/proc/net/tcp", "/proc/net/tcp6"):
    for fields in map(str.split, open(name)):
        if fields[1].split(":")[-1] == port and fields[3] == "0A":
            print("listens", int(fields[1].split(":")[0], 16))
"""


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp6"), reason="it asks Linux who listens")
def test_a_worker_listens_on_every_interface_as_the_guide_says(run):
    done = run(LISTENING, workers=2, cores="virtual:2", options=("--era", "2.2"))
    assert "listens 0" in done.stdout.splitlines(), done.stdout + done.stderr


def task(folder, tpu, **variables):
    """Starts ``tpudist run --tpu TPU train.py``, without a launcher."""
    environ = {name: value for name, value in os.environ.items() if name[:3] != "TPU"}
    environ.update(PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3", **variables)
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "tpudist", "run", "--tpu", tpu, "train.py"],
        cwd=str(folder), env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(process):
    """(what it printed, its messages) of a process that ended well."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err[-3000:]
    return out.splitlines(), err.splitlines()


def losses(process):
    """The losses that it printed."""
    return [float(line.split()[1]) for line in ended(process)[0] if "loss" in line]


def test_tasks_of_slurm_are_the_workers(tmp_path):
    """``srun -n 2 tpudist run --tpu cluster:virtual:4 train.py`` on one node."""
    tmp_path.joinpath("train.py").write_text(programs.STEPS, "utf-8")
    step = {"SLURM_STEP_NODELIST": "localhost", "SLURM_STEP_TASKS_PER_NODE": "2"}
    workers = [task(tmp_path, "cluster:virtual:4", SLURM_PROCID=str(i), **step) for i in range(2)]
    found = [losses(worker) for worker in workers]
    assert len(found[0]) >= 20 and found[0] == found[1]
    np.testing.assert_allclose(found[0], losses(task(tmp_path, "virtual:8")), rtol=1e-5)


EVALUATED = """
import tensorflow as tf


def model_fn(features, labels, mode, params):
    weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean((features * weight - labels) ** 2)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensors(([1.0], [2.0])).repeat(20)


estimator = tf.estimator.Estimator(model_fn, "kept")
tf.estimator.train_and_evaluate(
    estimator,
    tf.estimator.TrainSpec(input_fn, max_steps=10),
    tf.estimator.EvalSpec(input_fn, steps=1, start_delay_secs=0, throttle_secs=0),
)
"""


def test_an_evaluator_evaluates_what_the_others_have_trained(run, tmp_path):
    assert run(EVALUATED, tpu="virtual:2").returncode == 0
    shutil.rmtree(str(tmp_path / "kept" / "eval"))
    cluster = {"worker": ["localhost:1", "localhost:2"], "evaluator": ["localhost:3"]}
    config = {"cluster": cluster, "task": {"type": "evaluator", "index": 0}}
    _, said = ended(task(tmp_path, "cluster:virtual:2", TF_CONFIG=json.dumps(config)))
    assert any("an evaluator, which runs the program alone, on virtual:2" in line for line in said)
    assert os.listdir(str(tmp_path / "kept" / "eval"))


@pytest.mark.skipif(not versions.WORKERS_ARE_COORDINATED, reason="workers cannot tell each other")
@pytest.mark.parametrize("names", [("a", "b"), ("a", "a")], ids=["two folders", "one folder"])
def test_a_worker_that_does_not_see_the_chiefs_folder_says_so(tmp_path, names):
    configs = commands.configurations(["localhost", "localhost"], None)
    workers = []
    for name, config in zip(names, configs):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        folder.joinpath("train.py").write_text("print('ran')", "utf-8")
        workers.append(task(folder, "cluster:virtual:2", TF_CONFIG=config))
    (_, of_chief), (_, of_other) = map(ended, workers)
    seen = [line for line in of_chief + of_other if "does not see" in line]
    assert len(seen) == len(set(names)) - 1
    places = "in %s what the chief writes in %s" % (tmp_path / "b", tmp_path / "a")
    assert all(places in line and "Instead:" in line for line in seen)
    assert os.listdir(str(tmp_path / "a")) == ["train.py"]


@pytest.mark.parametrize(
    ("script", "message"),
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
        (
            programs.TOWERS.split("random =")[0]
            + "sums = lambda: tf.contrib.tpu.cross_replica_sum(1.0, [[0, 2], [1, 3]])\n"
            + "with distribution.scope():\n"
            + "    distribution.call_for_each_tower(sums)\n",
            "sums over groups",
        ),
    ],
    ids=["graph", "few cores", "a variable", "a sum", "groups"],
)
def test_what_the_workers_cannot_do_is_refused(run, script, message):
    done = run(script, workers=2, cores="cpus:2" if "a graph" in message else "virtual:2")
    assert done.returncode == 1
    assert message in done.stderr and "Instead:" in done.stderr
