"""What the self-test takes for agreement, and its report, of what workers might say."""

import json

import numpy as np
import pytest

from tpudist import cli
from tpudist.tools import selftest
from tpudist.tools.selftest import report

SYSTEM = dict(
    kind="system", era="v2_2", tpu="mine", virtual=False, replicas=8, hosts=1, tensorflow="2.15.1"
)


def lines(virtual=False, scale=1.0):
    """Every value that is recorded, as a worker says it, `scale` times as large."""
    said = [dict(SYSTEM, virtual=virtual)]
    for era, programs in report.records().items():
        for program, values in programs.items():
            for name, record in values.items():
                said.append(dict(record, kind="value", era=era, program=program, value=name))
                if record["dtype"] == "float32":
                    said[-1]["values"] = (np.array(record["values"]) * scale).tolist()
    return said


def test_records_agree_with_themselves():
    made = report.made("mine", lines(), 1.0)
    assert made["ok"] and len(made["values"]) > 35


@pytest.mark.parametrize(
    ("virtual", "scale", "ok"),
    [(False, 1.005, True), (False, 1.02, False), (True, 1.005, False), (True, 1.00001, True)],
)
def test_a_tpu_may_round_as_bfloat16(virtual, scale, ok):
    assert report.made("mine", lines(virtual, scale), 1.0)["ok"] == ok


def test_truths_shapes_and_names_are_compared_exactly():
    truth = dict(era="v2_0", program="replicas", value="ids", dtype="bool", shape=[])
    recorded = report.records()
    assert report.compared(dict(truth, values=[True]), recorded, False)["agrees"]
    for wrong in (dict(values=[False]), dict(values=[True], shape=[1]), dict(value="x")):
        line = dict(dict(truth, values=[True]), **wrong)
        assert not report.compared(line, recorded, False)["agrees"]


def test_not_a_number_does_not_agree():
    said = lines()
    next(each for each in said if each.get("dtype") == "float32")["values"][0] = float("nan")
    assert not report.made("mine", said, 1.0)["ok"]


def test_nothing_that_ran_is_not_ok():
    assert not report.made("mine", [], 1.0)["ok"]


def test_what_was_not_tried_is_told():
    said = lines(virtual=True) + [
        dict(kind="skipped", era="v2_2", program="logical devices", why="one core")
    ]
    told = "\n".join(report.made("virtual:8", said, 1.0)["not_tried"])
    for words in ("v2_2, logical devices: one core", "anything of a real TPU", "several hosts"):
        assert words in told
    assert "virtual" not in "\n".join(report.made("mine", lines(), 1.0)["not_tried"])


def test_a_tpu_that_did_not_start_has_no_hosts():
    told = "\n".join(report.made("mine", [], 1.0)["not_tried"])
    assert "the TPU did not start" in told and "this TPU has one" not in told


def test_a_report_without_a_folder_is_refused_first(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(selftest, "all_surfaces", lambda *unused: pytest.fail("it ran"))
    assert cli.main(["selftest", "--json", str(tmp_path / "none" / "report")]) == 2
    assert "mkdir -p %s" % (tmp_path / "none") in capsys.readouterr().err


def test_the_report_has_it_all(monkeypatch, tmp_path, capsys):
    said = lines() + [
        dict(kind="failed", era="contrib", program="towers", error="ValueError: <no>")
    ]
    monkeypatch.setattr(selftest, "all_surfaces", lambda tpu, end: said)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["selftest", "--tpu", "mine"]) == 1
    out = capsys.readouterr().out
    data = json.loads((tmp_path / "tpudist-selftest.json").read_text("utf-8"))
    assert "NOT OK" in out and "failed: contrib, towers: ValueError: <no>" in out
    assert data["failed"][0]["program"] == "towers" and data["system"]["replicas"] == 8


@pytest.mark.parametrize(
    ("argument", "variables", "name"),
    [
        (None, {}, "virtual:8"),
        (None, {"TPU_NAME": "mine"}, "mine"),
        (None, {"TPUDIST_TPU": "virtual:4"}, "virtual:4"),
        ("local", {"TPUDIST_TPU": "virtual:4"}, "local"),
    ],
)
def test_which_tpu(monkeypatch, argument, variables, name):
    monkeypatch.setattr("tpudist.toolbox.installed.tpu_chips", lambda: [])
    monkeypatch.delenv("TPU_NAME", raising=False)
    for key, value in variables.items():
        monkeypatch.setenv(key, value)
    assert selftest.tpu_at_hand(argument) == name


def test_a_worker_that_dies_is_told(monkeypatch, tmp_path):
    worker = tmp_path / "python"
    worker.write_text('#!/bin/sh\necho \'@selftest {"kind": "x"}\'\necho gone >&2\nexit 3\n')
    worker.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(worker))
    assert selftest.one_surface("v2_2", "virtual:8", 60) == [
        {"kind": "x"},
        {"kind": "failed", "program": "the rest", "error": "exit code 3: gone"},
    ]


def test_without_tensorflow_nothing_is_written(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["selftest"]) == 2
    err = capsys.readouterr().err
    assert "no TensorFlow" in err and err.count("\n") == 1 and not list(tmp_path.iterdir())


def test_unfinished_is_not_wrong(monkeypatch, tmp_path, capsys):
    left = [dict(kind="unfinished", era="v2_2", program="training")]
    monkeypatch.setattr(selftest, "all_surfaces", lambda tpu, end: lines() + left)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["selftest", "--tpu", "mine", "--timeout", "5"]) == 3
    out = capsys.readouterr().out
    assert "for 5 seconds at most" in out and "UNFINISHED" in out and "NOT OK" not in out
    assert "left when the time was up: v2_2, training" in out
    wrong = dict(kind="failed", era="contrib", program="towers", error="no")
    monkeypatch.setattr(selftest, "all_surfaces", lambda tpu, end: [*lines(), *left, wrong])
    assert cli.main(["selftest", "--tpu", "mine"]) == 1


def test_a_worker_that_hangs_is_ended(monkeypatch, tmp_path):
    worker = tmp_path / "python"
    said = '{"kind": "programs", "names": ["a", "b"]}', '{"kind": "value", "program": "a"}'
    said = "".join("echo '@selftest %s'\n" % each for each in said)
    worker.write_text("#!/bin/sh\n%sexec sleep 60\n" % said)
    worker.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(worker))
    left = selftest.one_surface("v2_2", "virtual:8", 1)[2:]
    assert left == [{"kind": "unfinished", "program": "b"}]
    assert selftest.one_surface("v2_2", "virtual:8", -1) == [
        {"kind": "unfinished", "program": "all"}
    ]
