"""CONTRIBUTING.md names what is there, and its commands can be typed."""

import importlib.util
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

from tests.laws import test_law_11_packages as packages
from tpudist import cli

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PICTURE = TEXT[TEXT.index("    tpudist/\n") : TEXT.index("What an era's")]
COMMANDS = re.search(r"```sh\n(.*?)```", TEXT, re.S).group(1).splitlines()

#: One test module of each tool that needs no TensorFlow.
PURE = [
    "tests/tools/matrix/test_table.py",
    "tests/tools/migrate/test_fixed_point.py",
    "tests/tools/pins/test_compare.py",
    "tests/tools/doctor/test_doctor.py",
]


def paths():
    """What is written as a path below the checkout, without the reader's own names."""
    quoted = re.findall(r"`([\w./-]+)`", TEXT)
    return sorted({each for each in quoted if "/" in each and not re.search("RELEASE|NEW", each)})


@pytest.mark.parametrize("path", paths())
def test_paths_exist(path):
    places = (ROOT, ROOT / "tpudist", ROOT / "tests" / "laws")
    assert any((place / path).exists() for place in places)


def test_there_are_paths():
    assert len(paths()) > 15


def test_the_picture_has_every_package_and_no_other():
    drawn = set(re.findall(r"([a-z_0-9]+)(?:/|\.py)(?=\s)", PICTURE.partition("    tests/")[0]))
    rooms = {name.rpartition(".")[2] for name in packages.FLOORS}
    assert drawn - {"tpudist", "tools"} == rooms - {"__main__"}


def test_every_law_has_its_line():
    laws = {path.name for path in (ROOT / "tests" / "laws").glob("test_law_*.py")}
    assert set(re.findall(r"`(test_law_\w+\.py)`", TEXT)) == laws


def test_readme_leads_here():
    assert "](CONTRIBUTING.md)" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_can_be_typed(command):
    words = shlex.split(command)
    if words[:3] == ["python", "-m", "tpudist"]:
        arguments, rest = cli.split(words[3:], cli.parser())
        assert cli.parser().parse_args(arguments).releases and rest[:1] == ["python"]
        words = rest
    if words[:3] == ["python", "-m", "pytest"]:
        assert all((ROOT / word).exists() for word in words if word.startswith("tests/"))
        options = [word for word in words[3:] if not word.startswith("tests/")]
        found = subprocess.run(
            [sys.executable, "-m", "pytest"]
            + options
            + ["-n", "0", "--collect-only", "tests/tools/matrix/test_table.py"],
            cwd=str(ROOT),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        nothing_chosen = 5 if "slow" in words else 0
        assert found.returncode == nothing_chosen, found.stdout
    elif words[0] == "python":
        assert importlib.util.find_spec(words[2]) and words[1] == "-m"
    else:
        assert words[0] in ("ruff", "bash") and (ROOT / "ruff.toml").exists()


@pytest.mark.slow
@pytest.mark.parametrize("module", PURE)
def test_a_test_that_is_pure_python_imports_no_tensorflow(module):
    code = (
        "import sys, pytest\n"
        "code = pytest.main(['-q', '-x', '-p', 'no:cacheprovider', %r])\n"
        "assert 'tensorflow' not in sys.modules, 'it imports TensorFlow'\n"
        "sys.exit(code)" % module
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=str(ROOT),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
