"""``examples/run_all.py``: what it calls a pass, its table and its exit code."""

import sys

import pytest

from tests.examples import running

run_all = running.run_all
PLAIN = run_all.Result(0.05, 0.99, 6.0)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (PLAIN, "ok"),
        (PLAIN._replace(loss=0.05004, seconds=60.0), "ok"),
        (PLAIN._replace(loss=0.05006), "FAILED: not the loss of plain.py"),
        (PLAIN._replace(loss=0.04994), "FAILED: not the loss of plain.py"),
        (PLAIN._replace(loss=float("nan")), "FAILED: not the loss of plain.py"),
        (PLAIN._replace(accuracy=0.949), "FAILED: accuracy below 0.95"),
        (None, "FAILED"),
    ],
)
def test_verdict(result, text):
    assert run_all.verdict(result, PLAIN) == text


def test_nothing_passes_without_plain():
    assert run_all.verdict(PLAIN, None) == "FAILED"


@pytest.mark.parametrize(("v2_0", "code"), [(PLAIN, 0), (None, 1)])
def test_table_and_exit_code(v2_0, code, monkeypatch, capsys):
    asked = []

    def run(name, *arguments):
        asked.append((name,) + arguments)
        return v2_0 if name == "v2_0" else PLAIN

    monkeypatch.setattr(run_all, "run", run)
    monkeypatch.setattr(sys, "argv", ["run_all.py", "--epochs", "3"])
    assert run_all.main() == code
    assert asked[0] == ("plain", "--epochs", "3")
    assert asked[1:] == [(name, "--tpu", "virtual:8", "--epochs", "3") for name in run_all.EXAMPLES]
    lines = capsys.readouterr().out.split("\n")[1:-1]
    assert [line.split()[0] for line in lines] == (["example", "plain"] + list(run_all.EXAMPLES))
    assert lines[1].split() == ["plain", "0.0500000", "0.9900", "6.0", "ok"]
    assert ("FAILED" in lines[2 + run_all.EXAMPLES.index("v2_0")]) == (v2_0 is None)


def test_an_example_that_fails_has_no_result(monkeypatch, tmp_path, capfd):
    for name, text in (
        ("breaks", "print('final loss=1 accuracy=1'); 1 / 0"),
        ("silent", "print('nothing')"),
        ("works", "print('final loss=0.25 accuracy=0.75')"),
    ):
        (tmp_path / (name + ".py")).write_text(text)
    monkeypatch.setattr(run_all, "_FOLDER", str(tmp_path))
    assert run_all.run("breaks") is None
    assert "ZeroDivisionError" in capfd.readouterr().err
    assert run_all.run("silent") is None
    assert run_all.run("works")[:2] == (0.25, 0.75)
