"""pip's indexes are uv's too, unless uv has its own."""

import os
import subprocess
import sys

import pytest

from tpudist.tools.matrix import environments, indexes

LISTED = """:env:.index-url='https://env.example/simple'
:env:.timeout='180'
global.extra-index-url='https://one.example/simple\\nfile:///two/simple'
global.find-links='/wheels /more'
global.index-url='https://global.example/simple'
install.find-links='/for/install'
install.trusted-host='one.example'
"""


def test_what_pip_is_configured_with():
    assert indexes.translated(LISTED) == {
        "UV_DEFAULT_INDEX": "https://env.example/simple",
        "UV_INDEX": "https://one.example/simple file:///two/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/for/install",
        "UV_INSECURE_HOST": "one.example",
    }
    assert indexes.translated("global.find-links='/a /b'\n") == {"UV_FIND_LINKS": "/a,/b"}
    assert indexes.translated("") == {}


@pytest.fixture
def pip(monkeypatch):
    """pip is configured with an index."""
    monkeypatch.setattr(indexes, "_pip_configuration", lambda: LISTED)


def test_uv_gets_them(pip, tmp_path):
    given = indexes.given_to_uv(str(tmp_path), {"HOME": str(tmp_path), "A": "b"})
    assert given["UV_DEFAULT_INDEX"] == "https://env.example/simple" and given["A"] == "b"


@pytest.mark.parametrize("name", indexes.OWN)
def test_uvs_own_variables_stand(pip, tmp_path, name):
    environ = {name: "1"}
    assert indexes.given_to_uv(str(tmp_path), environ) == environ


@pytest.mark.parametrize(
    ("file", "text", "own"),
    [
        ("uv.toml", "", True),
        ("pyproject.toml", '[[tool.uv.index]]\nurl = "x"\n', True),
        ("pyproject.toml", "[tool.uv]\n", True),
        ("pyproject.toml", "[tool.uvicorn]\n", False),
        ("config/uv/uv.toml", "", True),
    ],
)
def test_uvs_own_files_stand(pip, tmp_path, file, text, own):
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "APPDATA": str(tmp_path / "config")}
    assert (indexes.given_to_uv(str(tmp_path), environ) == environ) is own


def test_without_pip_there_is_nothing_to_tell(monkeypatch):
    monkeypatch.setattr(indexes.sys, "executable", "/no/python")
    monkeypatch.setattr(indexes.shutil, "which", lambda name: None)
    monkeypatch.setenv("PATH", "/no")
    assert indexes._pip_configuration() == ""


def test_uv_finds_packages_where_pip_finds_them(house, tmp_path, monkeypatch):
    """The real pip is asked, and the real uv resolves; there is no other index."""
    pytest.importorskip("pip")
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "pip.conf").write_text("[global]\nno-index = true\nfind-links = %s\n" % house)
    environ = dict(indexes.given_to_uv(str(tmp_path)), UV_CACHE_DIR=str(tmp_path / "uv"))
    done = subprocess.run(
        [environments.find_uv(), "pip", "compile", "--python", sys.executable, "-"],
        input="tensorflow-cpu",
        env=environ,
        capture_output=True,
        text=True,
    )
    assert "tensorflow-cpu==9.4.0" in done.stdout, done.stderr
