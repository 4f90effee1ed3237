"""The table of releases: tpudist's own, and what a row may say."""

import re

import pytest

from tpudist.errors import MatrixError
from tpudist.toolbox import table

TEXT = """
[1.15]
python = 3.7
requirement = tensorflow-cpu==1.15.0
constraints =
    # why
    numpy==1.18.5
    h5py<3
notes = a %(note)s

[2.16-tf-keras]
python = 3.12
requirement = tensorflow==2.16.2
environment =
    TF_USE_LEGACY_KERAS=1
    PATH_LIKE = a=b
"""


@pytest.fixture
def rows(tmp_path):
    (tmp_path / "releases.cfg").write_text(TEXT)
    return table.read(str(tmp_path / "releases.cfg"))


def test_a_row_is_read(rows):
    assert list(rows) == ["1.15", "2.16-tf-keras"]
    row = rows["1.15"]
    assert row.python == "3.7" and row.constraints == ("numpy==1.18.5", "h5py<3")
    assert row.environment == {} and row.minor == "1.15"
    assert rows["2.16-tf-keras"].minor == "2.16"
    assert rows["2.16-tf-keras"].environment == {"TF_USE_LEGACY_KERAS": "1", "PATH_LIKE": "a=b"}
    assert rows["2.16-tf-keras"].constraints == ()


def test_own_table_is_whole():
    rows = table.read()
    assert {"1.15", "2.2", "2.15"} <= set(rows)
    for row in rows.values():
        assert re.match(r"3\.\d+$", row.python), row
        assert re.match(r"tensorflow(-cpu)?==", row.requirement), row
        assert row.requirement.split("==")[1].startswith(row.release.split("-")[0] + "."), row


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("linux", "x86_64", "tensorflow-cpu"),
        ("win32", "AMD64", "tensorflow-cpu"),
        ("linux", "aarch64", "tensorflow"),
        ("darwin", "arm64", "tensorflow"),
        ("darwin", "x86_64", "tensorflow"),
    ],
)
def test_the_wheel_has_the_name_of_the_machine(system, machine, name):
    assert table.wheel("tensorflow-cpu==2.15.1", system, machine) == name + "==2.15.1"


@pytest.mark.parametrize(
    ("names", "releases"),
    [
        ("1.15", ["1.15"]),
        ("2.16-tf-keras, 1.15,1.15", ["2.16-tf-keras", "1.15"]),
        ("all", ["1.15", "2.16-tf-keras"]),
    ],
)
def test_select(rows, names, releases):
    assert [row.release for row in table.select(rows, names)] == releases


@pytest.mark.parametrize("names", ["2.17", "1.15,2.17", "", None, " , "])
def test_select_refuses(rows, names):
    with pytest.raises(MatrixError, match="1.15, 2.16-tf-keras"):
        table.select(rows, names)
