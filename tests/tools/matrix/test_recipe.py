"""Recipes: what is installed, and when an environment is out of date."""

import json
import os

import pytest

import tpudist
from tests.tools.matrix import wheels
from tpudist.errors import MatrixError
from tpudist.toolbox import table
from tpudist.tools.matrix import environments

ROW = table.Row("9.1", "3.7", "tensorflow-cpu==9.1.0", ("numpy<2",), {})


@pytest.fixture
def users(tmp_path):
    return wheels.project(tmp_path / "users")


def made(users, row=ROW, **options):
    return environments.Recipe(row, str(users) + "[test]", **options)


def test_everything_is_resolved_together(users):
    found = made(users, extra=["pytest"], tool=["tpudist==1.0"]).requirements
    assert found == [
        "tensorflow-cpu==9.1.0",
        "numpy<2",
        "pytest",
        "--editable",
        str(users) + "[test]",
        "tpudist==1.0",
    ]


def test_only_the_releases_own_wheel_is_left_in(users):
    excludes = made(users).excludes
    assert "tensorflow-cpu" not in excludes and {"tensorflow", "tensorflow-gpu"} <= set(excludes)
    other = made(users, row=ROW._replace(requirement="tensorflow==9.1.0")).excludes
    assert "tensorflow" not in other and "tensorflow-cpu" in other


def test_tpudist_itself_as_the_project_is_installed_once(users):
    found = made(users, tool=["--editable", str(users)]).requirements
    assert found.count("--editable") == 1


def test_the_key_holds_while_only_code_changes(users):
    before = made(users).key
    (users / "mine.py").write_text("value = 3\n")
    assert made(users).key == before


@pytest.mark.parametrize(
    "change",
    [
        {"row": ROW._replace(python="3.8")},
        {"row": ROW._replace(requirement="tensorflow==9.1.0")},
        {"row": ROW._replace(constraints=())},
        {"extra": ["pytest"]},
        {"tool": ["tpudist==2.0"]},
    ],
)
def test_the_key_changes_with_the_recipe(users, change):
    assert made(users, **change).key != made(users).key


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "setup.py", "setup.cfg", "requirements-dev.txt"]
)
def test_the_key_changes_with_the_metadata(users, name):
    before = made(users).key
    (users / name).write_text("# changed\n")
    assert made(users).key != before


def test_split(users, monkeypatch):
    monkeypatch.chdir(users)
    assert environments.split_project(".") == (str(users), "")
    assert environments.split_project("[a,b]") == (str(users), "[a,b]")
    with pytest.raises(MatrixError, match="there is no folder"):
        environments.split_project("absent[test]")


@pytest.mark.parametrize(
    ("name", "text", "installable"),
    [
        ("setup.py", "", True),
        ("pyproject.toml", "[project]\nname='x'", True),
        ("pyproject.toml", "[tool.black]\n", False),
        ("train.py", "", False),
    ],
)
def test_is_installable(tmp_path, name, text, installable):
    (tmp_path / name).write_text(text)
    assert environments.is_installable(str(tmp_path)) == installable


def test_own_of_a_checkout():
    root = os.path.dirname(os.path.dirname(os.path.abspath(tpudist.__file__)))
    if not os.path.exists(os.path.join(root, "setup.py")):
        pytest.skip("tpudist is installed here, not run from its checkout")
    assert environments.own_tpudist() == ["--editable", root]


@pytest.mark.parametrize(
    ("origin", "own"),
    [
        (None, "tpudist==" + tpudist.__version__),
        ({"url": "file:///src/tpudist", "dir_info": {}}, "tpudist @ file:///src/tpudist"),
        (
            {"url": "https://host/tpudist.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "tpudist @ git+https://host/tpudist.git@abc",
        ),
    ],
)
def test_own_of_an_installation(tmp_path, monkeypatch, origin, own):
    metadata = pytest.importorskip("importlib.metadata", reason="Python 3.7 has none")

    class Installed:
        def read_text(self, name):
            return json.dumps(origin) if origin else None

    monkeypatch.setattr(metadata, "distribution", lambda name: Installed())
    monkeypatch.setattr(tpudist, "__file__", str(tmp_path / "tpudist" / "__init__.py"))
    assert environments.own_tpudist() == [own]
