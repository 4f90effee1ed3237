"""TF_CONFIG: the workers of a cluster, and which of them a process is."""

import json
import re

import pytest

from tpudist import cli
from tpudist.errors import TPUNameError
from tpudist.system import tasks

SLURM = ("SLURM_PROCID", "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE")


@pytest.mark.parametrize(
    ("cluster", "task", "number", "workers"),
    [
        ({"worker": ["a:1", "b:1"]}, {"type": "worker", "index": 1}, 1, 2),
        ({"chief": ["a:1"], "worker": ["b:1"]}, {"type": "chief", "index": 0}, 0, 2),
        ({"chief": ["a:1"], "worker": ["b:1"]}, {"type": "worker", "index": "0"}, 1, 2),
    ],
)
def test_a_worker_knows_its_number(monkeypatch, cluster, task, number, workers):
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    own = tasks.own()
    assert own[:2] == (number, workers) and own.is_chief == (number == 0)


@pytest.mark.parametrize(
    ("nodes", "counts", "rank", "addresses"),
    [
        ("a", "2", "1", ["a:2222", "a:2223"]),
        ("node[8-10],big", "1(x3),2", "4", ["node8:2222", "node9:2222", "node10:2222",
                                            "big:2222", "big:2223"]),
        ("n[01,03-04].x", "1(x3)", "2", ["n01.x:2222", "n03.x:2222", "n04.x:2222"]),
    ],
)  # fmt: skip
def test_a_task_of_slurm_knows_its_cluster(monkeypatch, nodes, counts, rank, addresses):
    for name, value in zip(SLURM, (rank, nodes, counts)):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TF_CONFIG", "")
    tasks.prepare()
    assert tasks.addresses() == addresses
    assert tasks.own()[:2] == (int(rank), len(addresses))


@pytest.mark.parametrize(("nodes", "counts"), [("a", "1"), ("", ""), ("a[1-x]", "2")])
def test_a_step_of_slurm_that_cannot_be_read_is_refused(monkeypatch, nodes, counts):
    monkeypatch.setenv("TF_CONFIG", "")
    for name, value in zip(SLURM, ("1", nodes, counts)):
        monkeypatch.setenv(name, value)
    with pytest.raises(TPUNameError, match="SLURM_STEP_NODELIST=%s" % re.escape(nodes)):
        tasks.prepare()


def test_a_master_is_the_chief(monkeypatch):
    cluster = {"master": ["a:1"], "worker": ["b:1"]}
    for task, number in [("master", 0), ("worker", 1)]:
        config = {"cluster": cluster, "task": {"type": task, "index": 0}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))
        tasks.prepare()
        assert tasks.own()[:2] == (number, 2)
        assert tasks.addresses() == ["a:1", "b:1"]


def test_a_cluster_with_an_evaluator_is_the_others(monkeypatch):
    cluster = {"chief": ["a:1"], "worker": ["b:1"], "evaluator": ["c:1"]}
    config = {"cluster": cluster, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    tasks.prepare()
    assert tasks.own()[:2] == (1, 2) and not tasks.is_evaluator()


def test_an_evaluator_is_no_worker(monkeypatch):
    config = {"cluster": {"worker": ["a:1"]}, "task": {"type": "evaluator", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    with pytest.raises(TPUNameError, match="none of the workers"):
        tasks.own()


@pytest.mark.parametrize(
    ("config", "seen"),
    [
        ("", "no TF_CONFIG"),
        ("{", "TF_CONFIG={"),
        ("[]", r"TF_CONFIG=\[\]"),
        ('{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 1}}', "no task 1"),
        ('{"cluster": {"worker": ["a:1"]}, "task": {"type": "chief", "index": 0}}', "no task 0"),
        (
            '{"cluster": {"worker": ["a:1"], "ps": ["b:1"]}, "task": {"type": "ps", "index": 0}}',
            "'ps'",
        ),
    ],
)
def test_what_is_no_cluster_is_told(monkeypatch, config, seen):
    monkeypatch.setenv("TF_CONFIG", config)
    with pytest.raises(TPUNameError, match=seen) as caught:
        tasks.own()
    assert "tpudist launch" in caught.value.instead


@pytest.mark.parametrize(
    "options", [["4", "--tpu", "virtual:8"], ["-1", "--tpu", "cluster:cpus:2"]]
)
def test_only_a_cluster_compares_variables(capsys, options):
    assert cli.main(["run", "--check-replicas", *options, "train.py"]) == 2
    assert "tpudist launch --hosts a,b -- --check-replicas 100" in capsys.readouterr().err
