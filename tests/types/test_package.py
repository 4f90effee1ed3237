"""The package's own types hold, and its stubs are those of the table."""

import configparser
import os
import pathlib
import subprocess
import sys

import pytest

from compat.make import stubs
from tests.types import checkers


@pytest.mark.slow
def test_mypy_accepts_the_package():
    process = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary"],
        cwd=checkers.ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert (process.returncode, process.stdout) == (0, "")


def test_stubs_are_fresh():
    assert stubs.stale() == [], "python -m compat.make.stubs"


@pytest.fixture
def checkout(tmp_path):
    """A folder with the stubs as they should be."""
    for path, text in stubs.stubs().items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return tmp_path


def test_a_missing_an_outdated_and_a_stray_stub_are_named(checkout):
    assert stubs.stale(str(checkout)) == []
    (checkout / "__init__.pyi").unlink()
    (checkout / "v2_0" / "__init__.pyi").write_text("", encoding="utf-8")
    (checkout / "old.pyi").write_text(stubs.stubs()["__init__.pyi"], encoding="utf-8")
    (checkout / "by_hand.pyi").write_text("x: int\n", encoding="utf-8")
    assert stubs.stale(str(checkout)) == ["old.pyi", "__init__.pyi", "v2_0/__init__.pyi"]


def test_stubs_are_installed():
    """What setup.cfg installs beside the modules has every stub, and ``py.typed``."""
    setup = configparser.ConfigParser()
    setup.read(os.path.join(checkers.ROOT, "setup.cfg"), encoding="utf-8")
    package = pathlib.Path(checkers.ROOT, "tpudist")
    patterns = setup["options.package_data"]["tpudist"].split()
    installed = {
        path.relative_to(package).as_posix() for each in patterns for path in package.glob(each)
    }
    assert {"py.typed"} | set(stubs.stubs()) <= installed
