"""MATRIX.md says what the cells' results say."""

import datetime

import pytest

from compat.make import matrix

RESULTS = """<testsuites><testsuite>
<testcase classname="tests.contrib.test_a" name="test_x[graph-1]" />
<testcase classname="tests.contrib.test_a" name="test_x[graph_v1-1]">
  <skipped type="pytest.xfail" message="listed" /></testcase>
<testcase classname="tests.conformance.test_b" name="test_y[v2_0-function]">
  <failure message="no" /></testcase>
<testcase classname="tests.conformance.test_b" name="test_y[v2_2-graph-a-b]">
  <skipped type="pytest.skip" message="new in 2.4" /></testcase>
<testcase classname="tests.native.test_c" name="test_z" />
<testcase classname="tests.laws.test_d" name="test_z[graph]" />
</testsuite></testsuites>"""


@pytest.fixture
def cell(tmp_path):
    path = tmp_path / "2.4.xml"
    path.write_text(RESULTS)
    return matrix.read(path)


def test_cases_are_counted_by_surface_mode_and_outcome(cell):
    assert {column: dict(counts) for column, counts in cell.items()} == {
        ("contrib", "graph"): {"passed": 1, "listed": 1},
        ("v2_0", "function"): {"failed": 1},
        ("v2_2", "graph"): {"missing": 1},
        ("native TPU", "graph"): {"passed": 1},
    }


def test_a_release_is_a_row(cell):
    text = matrix.page(
        {"2.4": cell, "2.10": cell, "2.16-tf-keras": cell}, datetime.date(2026, 1, 2)
    )
    rows = [line for line in text.split("\n") if line.startswith("| 2")]
    assert [row.split(" | ")[0] for row in rows] == ["| 2.4", "| 2.10", "| 2.16-tf-keras"]
    assert rows[0] == (
        "| 2.4 | passed 1, listed 1 | not available | "
        "not available | FAILED 1 | not available | "
        "not available | passed 1 |"
    )
    assert "2026-01-02" in text


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"passed": 3}, "passed 3"),
        ({"passed": 3, "missing": 2}, "passed 3, not available 2"),
        ({"passed": 3, "failed": 1, "listed": 2}, "FAILED 1"),
        ({"missing": 2}, "not available"),
        ({}, "not available"),
    ],
)
def test_an_entry(counts, expected):
    assert matrix.entry(counts) == expected
