"""Environments: which Python, which uv, and what counts as ready."""

import json
import os
import sys
import threading

import pytest

from tests.tools.matrix import wheels
from tpudist.errors import MatrixError
from tpudist.toolbox import table
from tpudist.tools.matrix import environments


@pytest.fixture
def made(machine):
    """A recipe of the fake TensorFlow 9.1."""
    row = table.Row("9.1", wheels.PYTHON, "tensorflow-cpu==9.1.0", (), {})
    return environments.Recipe(row, str(machine), [], ["tpudist==1.0"])


@pytest.fixture
def pyenv(tmp_path, monkeypatch):
    """A pyenv with some versions; returns its folder."""
    root = tmp_path / "pyenv"
    for version in ("3.7.9", "3.7.16", "3.12.1", "3.13-dev", "pypy3.10-7.3"):
        (root / "versions" / version / "bin").mkdir(parents=True)
        (root / "versions" / version / "bin" / "python").write_text("")
    monkeypatch.setattr(environments.shutil, "which", lambda name: "/bin/" + name)
    monkeypatch.setattr(environments.subprocess, "check_output", lambda *a, **k: "%s\n" % root)
    return root


@pytest.mark.parametrize(
    ("version", "found"), [("3.7", "3.7.16"), ("3.12", "3.12.1"), ("3.1", None), ("3.10", None)]
)
def test_interpreter_of_pyenv(pyenv, version, found):
    expected = str(pyenv / "versions" / found / "bin" / "python") if found else version
    assert environments.interpreter(version) == expected


def test_interpreter_without_pyenv_is_uvs_business(monkeypatch):
    monkeypatch.setattr(environments.shutil, "which", lambda name: None)
    assert environments.interpreter("3.7") == "3.7"


def test_uv_on_path_will_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setattr(environments.shutil, "which", lambda name: "/opt/" + name)
    assert environments.find_uv() == "/opt/uv"


def test_no_uv(monkeypatch):
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setattr(environments.shutil, "which", lambda name: None)
    with pytest.raises(MatrixError) as caught:
        environments.find_uv()
    assert caught.value.instead == 'pip install "tpudist[matrix]"'


def test_prepare(made, tmp_path, capsys):
    folder = str(tmp_path / "env" / "9.1")
    first = environments.prepare(made, folder)
    assert (first.folder, first.tensorflow) == (folder, "9.1.0")
    assert first.python.startswith(wheels.PYTHON)
    assert "setting up Python" in capsys.readouterr().out
    assert environments.prepare(made, folder) == first and not capsys.readouterr().out
    assert os.path.exists(os.path.join(first.scripts, "python")) or os.name == "nt"


@pytest.mark.slow
@pytest.mark.parametrize("spoil", ["marker", "json", "key", "python"])
def test_what_is_not_ready(made, tmp_path, spoil):
    folder = tmp_path / "9.1"
    environments.prepare(made, str(folder))
    marker = folder / environments.MARKER
    if spoil == "marker":
        marker.unlink()
    elif spoil == "json":
        marker.write_text("{")
    elif spoil == "key":
        marker.write_text(json.dumps(dict(json.loads(marker.read_text()), key="other")))
    else:
        scripts = environments.Environment(str(folder), "", "").scripts
        os.unlink(os.path.join(scripts, "python"))
    assert environments.ready(made, str(folder)) is None
    assert environments.prepare(made, str(folder)).tensorflow == "9.1.0"


def test_two_at_once_make_it_once(made, tmp_path, capsys):
    folder = str(tmp_path / "9.1")
    threads = [threading.Thread(target=environments.prepare, args=(made, folder)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert capsys.readouterr().out.count("setting up") == 1 and environments.ready(made, folder)


def test_a_failed_call_says_what_it_said():
    with pytest.raises(MatrixError) as caught:
        environments._call(
            "9.1",
            [
                sys.executable,
                "-c",
                "import sys; print('\\n'.join(map(str, range(40))), file=sys.stderr); 1/0",
            ],
        )
    lines = caught.value.seen.splitlines()
    assert "failed with exit code 1" in lines[0] and lines[-1].strip().startswith("ZeroDivision")
    assert len(lines) == 16 and "--releases without 9.1" in caught.value.instead
