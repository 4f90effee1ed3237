"""``tpudist launch`` starts workers, passes their output on, and ends them all if one fails."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time

import pytest

from tests import ROOT

#: The start of each script, which needs no strategy.
_RUNS = """
import json, os, sys, time
index = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
"""


@pytest.fixture
def launch(tmp_path):
    """``launch(script, *options)`` runs it and returns the finished process."""

    def launched(script, *options, path=None):
        tmp_path.joinpath("train.py").write_text(_RUNS + script)
        environ = dict(os.environ, PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3")
        environ["PATH"] = os.pathsep.join(([path] if path else []) + [environ["PATH"]])
        command = [sys.executable, "-m", "tpudist", "launch", *options, "--", "--era", "2.2"]
        return subprocess.run(
            command + ["train.py", "an argument"],
            cwd=str(tmp_path),
            env=environ,
            capture_output=True,
            text=True,
        )

    return launched


TWO = ("--hosts", "localhost,localhost", "--cores", "2")


@pytest.mark.slow
def test_each_worker_knows_the_cluster_and_its_place(launch):
    done = launch("print(index, sys.argv[1:], os.environ['TF_CONFIG'])", *TWO)
    assert done.returncode == 0, done.stderr
    lines = sorted(done.stdout.splitlines())
    assert [line.split(" {")[0] for line in lines] == [
        "0 ['an argument']",
        "[worker 1] 1 ['an argument']",
    ]
    configs = [json.loads(line[line.index("{") :]) for line in lines]
    assert [config["task"] for config in configs] == [
        {"type": "worker", "index": 0},
        {"type": "worker", "index": 1},
    ]
    workers = configs[0]["cluster"]["worker"]
    assert configs[1]["cluster"]["worker"] == workers
    assert len(set(workers)) == 2 and all(each.startswith("localhost:") for each in workers)


@pytest.mark.slow
def test_other_workers_can_be_silenced(launch):
    done = launch("print(index); print(index, 'told', file=sys.stderr)", *TWO, "--quiet-workers")
    assert done.stdout.split() == ["0"]
    assert "1 told" not in done.stderr and "0 told" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ends", "code"),
    [("sys.exit(7)", 7), ("os.kill(os.getpid(), 9)", 128 + 9)],
    ids=["exit", "kill"],
)
def test_the_first_failure_ends_all(launch, ends, code):
    start = time.monotonic()
    done = launch("%s if index else time.sleep(300)" % ends, *TWO)
    assert done.returncode == code
    assert "worker 1 ended with exit code %d" % (7 if code == 7 else -9) in done.stderr
    assert time.monotonic() - start < 60


@pytest.mark.slow
def test_other_hosts_are_reached_by_ssh(launch, tmp_path, monkeypatch):
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text(
        '#!/bin/sh\nfor last; do :; done\necho "by ssh: $1 $2 $4 $5"\n'
        'echo "its line: $last"\nexec env -u TF_VAR_password -u NCCL_DEBUG sh -c "$last"\n'
    )
    ssh.chmod(ssh.stat().st_mode | stat.S_IEXEC)
    tmp_path.joinpath("hosts").write_text("# two of them\n\nlocalhost\nme@far slots=1  # far\n")
    options = ("--hostfile", "hosts", "--cores", "2", "--port", "4567", "--ssh", "ssh -p 2222")
    options += ("--env", "OWN_SECRET=hidden", "--env", "NCCL_DEBUG")
    monkeypatch.setenv("TF_VAR_password", "never sent")
    monkeypatch.setenv("NCCL_DEBUG", "INFO")
    done = launch(
        "print(os.environ['TF_CONFIG'], os.getcwd() == %r, os.environ.get('TF_VAR_password'), "
        "os.environ['OWN_SECRET'], os.environ['NCCL_DEBUG'])" % str(tmp_path),
        *options,
        path=str(ssh.parent),
    )
    assert done.returncode == 0, done.stderr
    there = [line for line in done.stdout.splitlines() if line.startswith("[worker 1] ")]
    assert there[0].endswith("by ssh: -p 2222 BatchMode=yes me@far")
    assert "hidden" not in there[1] and "password" not in there[1] and "INFO" not in there[1]
    assert '["localhost:4567", "far:4568"]' in there[2]
    assert there[2].endswith("True None hidden INFO")


@pytest.mark.slow
def test_all_workers_start_again_after_a_failure(launch, tmp_path):
    script = (
        "path = 'tries-%d' % index\n"
        "tries = os.path.exists(path) and int(open(path).read()) or 0\n"
        "open(path, 'w').write(str(tries + 1))\n"
        "print('try', tries)\n"
        "if tries < 2: sys.exit(5) if index else time.sleep(300)\n"
    )
    done = launch(script, *TWO, "--max-restarts", "1", "--log-dir", "logs")
    assert done.returncode == 5
    assert "tpudist launch: restart 1 of 1" in done.stderr
    again = launch(script, *TWO, "--max-restarts", "1", "--log-dir", "logs")
    assert again.returncode == 0, again.stderr
    for index in range(2):
        log = tmp_path.joinpath("logs", "worker-%d.log" % index).read_text()
        assert [line for line in log.splitlines() if "try" in line] == ["try 0", "try 1", "try 2"]


@pytest.mark.slow
def test_notes_are_told_by_the_chief_alone(launch, tmp_path):
    script = "import tensorflow as tf\ntf.contrib"
    tmp_path.joinpath("train.py").write_text(script)
    command = [sys.executable, "-m", "tpudist", "launch", *TWO]
    environ = dict(os.environ, PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3")

    def notes(*options):
        done = subprocess.run(
            [*command, *options, "--", "train.py"], cwd=str(tmp_path), env=environ,
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return [line for line in done.stderr.splitlines() if "era" in line]

    assert len(notes()) == 1
    assert not notes("-q")


@pytest.mark.slow
def test_workers_draw_alike_what_has_no_seed(launch):
    script = (
        "import random, numpy as np, tensorflow as tf\n"
        "rows = [int(x) for x in tf.data.Dataset.range(8).shuffle(8)]\n"
        "print(list({'cat', 'dog', 'bird', 'cow'}), random.random(), np.random.rand(), rows)\n"
    )

    def drawn(*options):
        done = launch(script, *TWO, *options)
        assert done.returncode == 0, done.stderr
        lines = {line.replace("[worker 1] ", "") for line in done.stdout.splitlines()}
        return lines, done.stderr

    lines, told = drawn()
    assert len(lines) == 1
    assert "--seed " in told
    seed = told.split("--seed ")[1].split()[0]
    again, _ = drawn("--seed", seed)
    assert again == lines
    other, _ = drawn("--seed", str(int(seed) + 1))
    assert other != lines


@pytest.mark.slow
def test_the_last_lines_of_a_silenced_worker_that_fails_are_shown(launch):
    script = "if index: raise ValueError('disk is full on this host')\ntime.sleep(300)"
    done = launch(script, *TWO, "--quiet-workers")
    assert done.returncode == 1
    assert "[worker 1] ValueError: disk is full on this host" in done.stderr
    assert "worker 1 ended with exit code 1, on localhost" in done.stderr


@pytest.fixture
def launcher(tmp_path):
    """Starts four workers that do not want to end; returns the launcher and its workers' ids."""
    started = []

    def start(*options):
        tmp_path.joinpath("train.py").write_text(
            _RUNS + "import signal\nsignal.signal(signal.SIGTERM, lambda *_: None)\n"
            "open('%d' % index, 'w').write(str(os.getpid()))\n"
            "while True:\n    try: time.sleep(300)\n    except KeyboardInterrupt: pass\n"
        )
        hosts = ",".join(["localhost"] * 4)
        command = [sys.executable, "-m", "tpudist", "launch", "--hosts", hosts, "--cores", "2"]
        environ = dict(os.environ, PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3")
        started.append(
            subprocess.Popen(
                [*command, *options, "--", "--era", "2.2", "train.py"],
                cwd=str(tmp_path), env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )  # fmt: skip
        files = [tmp_path / str(index) for index in range(4)]
        until = time.monotonic() + 120
        while not all(file.exists() and file.read_text() for file in files):
            assert time.monotonic() < until
            time.sleep(0.1)
        return started[0], [int(file.read_text()) for file in files]

    yield start
    for process in started:
        process.kill()


def left(processes, seconds):
    """Those of some processes that are there after so many seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        alive = [each for each in processes if os.path.exists("/proc/%d" % each)]
        if not alive:
            break
        time.sleep(0.1)
    return alive


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self"), reason="no list of processes")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_to_the_launcher_ends_all_workers_at_once(launcher, name):
    process, workers = launcher("--grace", "2")
    number = getattr(signal, name)
    start = time.monotonic()
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    assert time.monotonic() - start < 15  # one after the other they would take four graces
    assert not left(workers, 5)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self"), reason="no list of processes")
def test_a_second_ctrl_c_kills_the_workers(launcher):
    process, workers = launcher("--grace", "300")
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert not left(workers, 5)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self"), reason="no list of processes")
def test_no_worker_outlives_a_launcher_that_is_killed(launcher):
    process, workers = launcher()
    process.kill()
    process.wait()
    assert not left(workers, 60)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "no host"),
        (("--hosts", "localhost", "--max-restarts", "-1"), "--max-restarts -1"),
        (("--hosts", "localhost", "--log-dir", "train.py"), "--log-dir train.py"),
        (("--hosts", "far", "--ssh", "no-such-ssh -p 22"), "--ssh 'no-such-ssh -p 22'"),
        (("--hosts", "far", "--ssh", ""), "--ssh ''"),
        (("--hostfile", "absent"), "--hostfile absent"),
        (("--hostfile", "train.py"), "train.py:2: import json"),
        (("--hosts", "localhost", "--cores", "0"), "cluster:cpus:0"),
        (("--hosts", "localhost", "--seed", "-1"), "--seed -1"),
        (("--hosts", "localhost", "--cores", "v3-8"), "cluster:v3-8"),
    ],
)
def test_what_cannot_be_launched(launch, options, message):
    done = launch("", *options)
    assert done.returncode == 2
    assert message in done.stderr and "Instead:" in done.stderr


@pytest.mark.parametrize("words", [["--tpu", "virtual:8"], ["--era", "2.2", "--tpu=virtual:8"]])
def test_another_tpu_is_refused(tmp_path, words):
    command = [sys.executable, "-m", "tpudist", "launch", "--hosts", "localhost", "--", *words]
    done = subprocess.run(
        command + ["train.py"], cwd=str(tmp_path), env=dict(os.environ, PYTHONPATH=ROOT),
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--cores virtual:8" in done.stderr


@pytest.mark.slow
def test_a_worker_that_does_not_come_is_told_with_its_address(tmp_path):
    tmp_path.joinpath("train.py").write_text("print('started')")
    free = [socket.socket() for _ in range(2)]
    for each in free:
        each.bind(("localhost", 0))
    addresses = ["localhost:%d" % each.getsockname()[1] for each in free]
    for each in free:
        each.close()
    config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": 0}}
    environ = dict(os.environ, PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3")
    environ.update(TF_CONFIG=json.dumps(config), TPUDIST_START_TIMEOUT="5")
    command = [sys.executable, "-m", "tpudist", "run", "--tpu", "cluster:virtual:2", "train.py"]
    done = subprocess.run(
        command, cwd=str(tmp_path), env=environ, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1
    assert "no answer of %s in 5 seconds" % addresses[1] in done.stderr
    assert "Instead:" in done.stderr and "started" not in done.stdout
