"""compat/SURFACES.md: what the table says, all of it (law 12 holds it fresh)."""

import re

import pytest

from compat.make import surfaces as pages
from tpudist import surfaces


@pytest.mark.parametrize("row", surfaces.ROWS, ids=lambda row: row.era + " " + row.name)
def test_every_row_is_in_it(row):
    section = re.split(r"^## ", pages.page(), flags=re.M)[1 + surfaces.ERAS.index(row.era)]
    name = row.name.replace("TPUStrategy.", "", 1) if row.kind != "class" else row.name
    line = next(each for each in section.splitlines() if each.startswith("| [`%s`](" % name))
    assert row.url in line and (row.signature or row.kind) in line
    assert row.leads_to.rpartition(":")[2] in line
    assert (" %s " % row.since in line) if row.since else "| none |" in line


def test_exceptions_are_those_of_the_readme():
    readme = (pages.HERE / "README.md").read_text("utf-8")
    found = pages.exceptions(readme)
    assert [what for _, what, _ in found.values()] == [
        line.split(" | ")[0][2:]
        for part in readme.split("\n## ")
        if part.startswith("Exceptions on")
        for line in part.splitlines()
        if line.startswith("| ") and not line.startswith("| what")
    ]
    assert len(found) > 5 and {place for place, _, _ in found.values()} == {
        "on the virtual TPU",
        "on a native TPU",
    }


def test_every_exception_that_names_a_member_stands_beside_it():
    members = {name for era in surfaces.ERAS for name in surfaces.members(era)}
    text = pages.page()
    for number, (_, what, _) in pages.exceptions(
        (pages.HERE / "README.md").read_text("utf-8")
    ).items():
        for name in members & set(re.findall(r"`(\w+)`", what)):
            lines = [line for line in text.splitlines() if line.startswith("| [`%s`](" % name)]
            assert lines and all(str(number) in line.rpartition(" | ")[2] for line in lines), (
                number,
                name,
            )
