"""The table of releases, and what a release cannot do."""

import pathlib
import re

import pytest

from tests.helpers import differences
from tpudist import surfaces
from tpudist.toolbox import table
from tpudist.tools.doctor import releases

MINORS = ["1.13", "1.14", "1.15"] + ["2.%d" % i for i in range(23)]
TABLE = table.sections()


def minor(name):
    return table.read()[name].minor


def test_every_minor_release_has_a_row():
    assert {minor(name) for name in TABLE.sections()} == set(MINORS)
    assert [name for name in TABLE.sections() if "-" not in name] == MINORS, (
        "in the order of the releases"
    )


@pytest.mark.parametrize("name", TABLE.sections())
def test_a_row_is_well_formed(name):
    row = TABLE[name]
    fields = {"python", "requirement", "constraints", "native", "environment", "notes"}
    assert set(row) <= fields | {"tpu"}
    assert re.match(r"3\.\d+$", row["python"])
    wheel, version = row["requirement"].split("==")
    assert wheel in ("tensorflow", "tensorflow-cpu")
    assert releases.minor(version) == minor(name)
    assert all(re.match(r"[a-zA-Z0-9-]+[<>=]", pin) for pin in table.lines(row["constraints"]))
    assert all(re.match(r"[A-Z_]+=\S", line) for line in table.lines(row["environment"]))


@pytest.mark.parametrize("name", TABLE.sections())
def test_every_pin_has_its_reason(name):
    """Read as text: the parser drops the comments."""
    text = pathlib.Path(table.path()).read_text("utf-8")
    section = re.search(r"^\[%s\]\n(.*?)(?=^\[|\Z)" % re.escape(name), text, re.S | re.M).group(1)
    constraints = re.search(r"^constraints =\n((?:    .*\n)*)", section, re.M)
    before = ""
    for line in constraints.group(1).splitlines():
        assert line.strip().startswith("#") or before.startswith("#"), line
        before = line.strip()


@pytest.mark.parametrize("name", TABLE.sections())
def test_pins_are_those_that_the_doctor_asks_for(name):
    row = TABLE[name]
    exact = dict(pin.split("==") for pin in table.lines(row["constraints"]) if "==" in pin)
    for package, specifier, why in releases.needs(row["requirement"].split("==")[1], []):
        assert releases.fits(exact.get(package), specifier), (package, why)


@pytest.mark.parametrize("name", TABLE.sections())
def test_native_eras_are_those_of_the_table_of_surfaces(name):
    def whole(era):
        return all(
            row.since and releases.within(minor(name), row.since, row.until)
            for row in surfaces.members(era).values()
        )

    assert TABLE[name]["native"].split() == [
        surfaces.spelled(era) for era in surfaces.ERAS if whole(era)
    ]


def test_variables_of_a_row():
    rows = table.read()
    assert rows["2.16-tf-keras"].environment == {"TF_USE_LEGACY_KERAS": "1"}
    assert rows["2.16"].environment == {}


class Item:
    """As much of a collected test as the entries look at."""

    def __init__(self, nodeid):
        self.nodeid = nodeid
        self.marks = []

    def add_marker(self, mark):
        self.marks.append(mark)


LISTED = """# a comment
tests/test_a.py::test_x[eager-*]
    It has no such thing,
    see https://example.org/1.
tests/test_b.py::test_y
    Nor this: https://example.org/2
"""


def entries(folder, text):
    (folder / "1.13").write_text(text, "utf-8")
    return differences.read("1.13", folder)


def test_a_listed_test_is_a_strict_expected_failure(tmp_path):
    items = [
        Item("tests/test_a.py::test_x[eager-1]"),
        Item("tests/test_a.py::test_x[graph-1]"),
        Item("tests/test_a.py::test_x"),
    ]
    differences.apply(entries(tmp_path, LISTED), items, whole_files=True)
    (mark,) = items[0].marks
    assert mark.name == "xfail" and mark.kwargs == {
        "strict": True,
        "reason": "It has no such thing, see https://example.org/1.",
    }
    assert not items[1].marks and not items[2].marks


def test_an_entry_that_matches_nothing_is_stale(tmp_path):
    found = entries(tmp_path, LISTED)
    with pytest.raises(pytest.UsageError, match="test_x.*matches no test"):
        differences.apply(found, [Item("tests/test_a.py::test_z")], True)
    differences.apply(found, [Item("tests/test_a.py::test_z")], False)
    differences.apply(found, [Item("tests/test_c.py::test_z")], True)


@pytest.mark.parametrize(
    "text", ["tests/test_a.py::test_x\n", "tests/test_a.py::test_x\n    because\n"]
)
def test_an_entry_needs_a_reason_with_a_link(tmp_path, text):
    with pytest.raises(ValueError, match="no reason with a link"):
        entries(tmp_path, text)


def test_no_file_no_differences(tmp_path):
    assert differences.read("2.2", tmp_path) == []


def test_every_file_of_differences_is_of_a_release_of_the_table_or_of_cores():
    assert differences.read("1.13")
    for file in differences.FOLDER.glob("*"):
        of_cores = ["cpus"] + ["cpus-" + release for release in TABLE.sections()]
        assert file.name in TABLE.sections() + of_cores
        assert differences.read(file.name), "%s lists nothing" % file


@pytest.mark.parametrize("name", [name for name in TABLE.sections() if name != "2.22"])
def test_packages_of_the_extra_legacy_are_pinned_to_those_of_the_release(name):
    minor_ = releases.parse(minor(name))
    pins = [pin for pin in table.lines(TABLE[name]["constraints"]) if pin.startswith("tens")]
    # From 2.18 on the newest goes with any.
    assert len(pins) == (minor_ < releases.parse("2.18"))
    keras = [pin for pin in table.lines(TABLE[name]["constraints"]) if pin.startswith("tf-keras")]
    assert [pin.startswith("tf-keras==%s." % minor(name)) for pin in keras] == [True] * (
        minor_ >= releases.parse("2.16")
    )
