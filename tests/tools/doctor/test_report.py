"""The doctor's report: text, JSON and exit code."""

import json

import pytest

from tests.tools.doctor.machines import CASES, machine
from tpudist import cli
from tpudist.machine import TENSORFLOWS
from tpudist.toolbox import installed
from tpudist.tools.doctor import report


def answer(env, as_json=False):
    text, code = report.written(env, as_json)
    return code, text


@pytest.mark.parametrize(
    ("env", "code"),
    [
        (machine(), 0),
        (machine(None), 1),
        (CASES["import is killed"][0], 1),
        (CASES["Keras 3 alone"][0], 0),
    ],
    ids=["sound", "none", "broken", "note"],
)
def test_exit_code_and_json_agree(env, code):
    returned, text = answer(env, as_json=True)
    assert returned == code == int(not json.loads(text)["ok"])


def test_json_is_stable():
    _, text = answer(CASES["runtime unknown"][0], as_json=True)
    data = json.loads(text)
    assert sorted(data) == ["findings", "keras", "ok", "python", "tensorflow", "tpu", "tpudist"]
    assert sorted(data["tensorflow"]) == ["distributions", "path", "variant", "version"]
    assert sorted(data["tpu"]) == ["chips", "kind", "libtpu", "name", "source", "words"]
    assert sorted(data["findings"][0]) == ["check", "instead", "level", "seen", "why"]


def test_text_says_it_at_a_glance():
    code, text = answer(
        machine("2.15.1", distributions={"keras": "2.12.0"}, variables={"TPUDIST_TPU": "virtual:8"})
    )
    assert code == 1
    for words in (
        "TensorFlow  2.15.1, cpu build (tensorflow-cpu)",
        "keras 2 (2.12.0)",
        "virtual virtual:8 (TPUDIST_TPU)",
        "PROBLEM  keras 2.12.0 beside",
        '  type  pip install "keras==2.15.*"',
        "1 problem.",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("env", "last"),
    [
        (machine(), "No problems."),
        (CASES["runtime unknown"][0], "No problems, 1 note."),
        (machine(None), "1 problem."),
    ],
)
def test_verdict(env, last):
    assert answer(env)[1].splitlines()[-1] == last


@pytest.mark.slow
def test_this_machine(capsys):
    code = cli.main(["doctor", "--json"])
    data = json.loads(capsys.readouterr().out)
    found, _ = installed.distributions()
    wheels = [name for name in TENSORFLOWS if name in found]
    assert code == int(not data["ok"])
    assert list(data["tensorflow"]["distributions"]) == sorted(wheels)
    if wheels:
        assert data["tensorflow"]["version"] == found[wheels[0]]
        assert data["tensorflow"]["path"].endswith("__init__.py")
        assert data["keras"]["generation"]
