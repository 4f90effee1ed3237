"""``tpudist launch`` starts workers, passes their output on, and ends them all if one fails."""

import json
import os
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
def test_other_hosts_are_reached_by_ssh(launch, tmp_path):
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text('#!/bin/sh\nfor last; do :; done\necho "by ssh: $3 $4"\nexec sh -c "$last"\n')
    ssh.chmod(ssh.stat().st_mode | stat.S_IEXEC)
    options = ("--hosts", "localhost,me@far", "--cores", "2", "--port", "4567")
    done = launch(
        "print(os.environ['TF_CONFIG'], os.getcwd() == %r)" % str(tmp_path),
        *options,
        path=str(ssh.parent),
    )
    assert done.returncode == 0, done.stderr
    there = [line for line in done.stdout.splitlines() if line.startswith("[worker 1] ")]
    assert there[0].endswith("by ssh: BatchMode=yes me@far")
    assert '["localhost:4567", "far:4568"]' in there[1] and there[1].endswith("True")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "no host"),
        (("--hosts", "localhost", "--cores", "0"), "cluster:cpus:0"),
        (("--hosts", "localhost", "--cores", "v3-8"), "cluster:v3-8"),
    ],
)
def test_what_cannot_be_launched(launch, options, message):
    done = launch("", *options)
    assert done.returncode == 2
    assert message in done.stderr and "Instead:" in done.stderr
