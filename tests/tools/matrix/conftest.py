"""A machine for the matrix: a wheelhouse instead of an index, a cache of its own."""

import pytest

from tests.tools.matrix import wheels
from tpudist import cli
from tpudist.errors import MatrixError
from tpudist.tools.matrix import environments


@pytest.fixture(scope="session")
def house(tmp_path_factory):
    return wheels.wheelhouse(tmp_path_factory.mktemp("matrix") / "wheels")


@pytest.fixture
def machine(tmp_path, house, monkeypatch):
    """The folder of a user's project; skips where uv is not."""
    try:
        environments.find_uv()
    except MatrixError as error:  # uv has no wheel for Python 3.7
        pytest.skip(str(error))
    for name, value in {
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(house),
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(house.parent / "uv"),
        "TPUDIST_CACHE": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(environments, "own_tpudist", lambda: ["tpudist==1.0"])
    folder = wheels.project(tmp_path / "users")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def matrix(machine, tmp_path, capfd):
    """Runs ``tpudist matrix`` on fake releases; returns (exit code, what was printed)."""
    table = wheels.table(
        tmp_path / "releases.cfg",
        ("9.1", "9.1.0"),
        ("9.2", "9.2.3"),
        ("9.3", "9.3.0"),
        ("9.4", "9.4.0"),
        ("9.5", "9.5.0"),
    )

    def run(*arguments):
        capfd.readouterr()
        code = cli.main(["matrix", "--table", str(table)] + list(arguments))
        out, err = capfd.readouterr()
        return code, out + err

    return run
