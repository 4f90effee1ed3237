"""TF_CONFIG: the workers of a cluster, and which of them a process is."""

import json

import pytest

from tpudist import cli
from tpudist.errors import TPUNameError
from tpudist.system import tasks


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


@pytest.mark.parametrize("options", [["4", "--tpu", "virtual:8"], ["0", "--tpu", "cluster:cpus:2"]])
def test_only_a_cluster_compares_variables(capsys, options):
    assert cli.main(["run", "--check-replicas", *options, "train.py"]) == 2
    assert "tpudist launch --hosts a,b -- --check-replicas 100" in capsys.readouterr().err
