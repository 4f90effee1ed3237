"""The command's run: what it gets, how it is shown, which line tells what failed."""

import os
import sys
import time

import pytest

from tpudist.errors import MatrixError
from tpudist.toolbox import table
from tpudist.tools.matrix import environments, running

ROW = table.Row("9.1-tf-keras", "3.7", "tensorflow-cpu==9.1.0", (), {"TF_USE_LEGACY_KERAS": "1"})
ENV = dict(os.environ)


def run(code):
    return running.run([sys.executable, "-c", code], ENV)


def test_variables(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONHOME", "elsewhere")
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "0")
    environment = environments.Environment(str(tmp_path), "9.1.0", "3.7.16")
    found = running.variables(environment, ROW, "virtual:v3-32")
    assert found["TPUDIST_TPU"] == "virtual:v3-32" and found["TPUDIST_EXPECT_TF"] == "9.1"
    assert found["TF_USE_LEGACY_KERAS"] == "1" and "PYTHONHOME" not in found
    assert found["PATH"].startswith(environment.scripts + os.pathsep)


def test_all_output_and_the_exit_code_come_back(capsys):
    code, text = run(
        "import sys; print('out'); sys.stdout.flush(); sys.stderr.write('err'); sys.exit(3)"
    )
    assert code == 3 and text.split() == ["out", "err"] and capsys.readouterr().out == text


def test_output_shows_while_it_comes(tmp_path, monkeypatch):
    """The command prints the second piece once the first has been shown."""
    shown = tmp_path / "shown"
    monkeypatch.setattr(running, "echo", lambda text: text and shown.touch())
    code, text = run(
        "import os, time\nprint(1, flush=True); end = time.time() + 60\n"
        "while not os.path.exists(%r): time.sleep(.01); assert time.time() < end\n"
        "print(2)" % str(shown)
    )
    assert code == 0 and text.split() == ["1", "2"]


def test_characters_may_be_cut_anywhere():
    code = (
        "import sys, time\nfor b in bytearray('\\u00e9\\u4e2d'.encode('utf-8')):\n"
        "  sys.stdout.buffer.write(bytes([b])); sys.stdout.flush(); time.sleep(.02)"
    )
    assert run(code)[1] == "\u00e9\u4e2d"


def test_an_unknown_command():
    with pytest.raises(MatrixError, match="no such command"):
        running.run(["no-such-command"], ENV)


def test_ctrl_c_ends_the_command(monkeypatch):
    monkeypatch.setattr(running, "_PATIENCE", 0.2)

    def interrupt(text):
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "echo", interrupt)
    start = time.time()
    with pytest.raises(KeyboardInterrupt):
        run("import time; print('begun', flush=True); time.sleep(60)")
    assert time.time() - start < 20


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("\n\n", ""),
        ("a\nlast\n\n", "last"),
        (
            "E   assert 1 == 2\nFAILED tests/a.py::b - assert\n1 failed\n",
            "FAILED tests/a.py::b - assert",
        ),
        ("ERROR tests/a.py - ImportError\nFAILED later\n", "ERROR tests/a.py - ImportError"),
        ("  x\nE       AssertionError: no\nend\n", "E       AssertionError: no"),
        ("Traceback (most recent call last):\n  x\nValueError: bad\nbye\n", "ValueError: bad"),
        ("mod.MyError\nbye", "mod.MyError"),
        ("NoErrors here\nbye", "bye"),
        ("\x1b[31mFAILED\x1b[0m a.py::b\n1 failed", "FAILED a.py::b"),
    ],
)
def test_first_failing_line(text, line):
    assert running.first_failing_line(text) == line
