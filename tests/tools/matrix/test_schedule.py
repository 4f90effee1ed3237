"""The table at the end, and the exit code."""

import pytest

from tpudist.tools.matrix import schedule
from tpudist.tools.matrix.schedule import FAILED, INTERRUPTED, NOT_RUN, NOT_SET_UP, PASSED, READY


def result(word, line="", code=None, seconds=None):
    return schedule.Result("2.15", "2.15.1", "3.11.7", word, code, seconds, line)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([PASSED, PASSED], 0),
        ([READY], 0),
        ([PASSED, FAILED], 1),
        ([FAILED, NOT_SET_UP], 2),
        ([FAILED, INTERRUPTED, NOT_RUN], 130),
        ([PASSED, FAILED, NOT_RUN], 1),
    ],
)
def test_exit_code(words, code):
    assert schedule.exit_code([result(word) for word in words]) == code


def test_table():
    lines = schedule.table(
        [
            result(PASSED, code=0, seconds=1.25),
            result(FAILED, "FAILED tests/a.py::b - " + "x" * 200, 1, 100.0),
            schedule.Result("2.2", "", "", NOT_SET_UP, None, None, "uv\n   no solution"),
        ],
        100,
    ).splitlines()
    assert lines[0].split() == [
        "release",
        "TensorFlow",
        "Python",
        "result",
        "seconds",
        "first",
        "failing",
        "line",
    ]
    assert lines[1].split() == ["2.15", "2.15.1", "3.11.7", "passed", "1.2"]
    assert "failed (1)" in lines[2] and lines[2].endswith("...") and len(lines[2]) == 100
    assert lines[3].split()[:5] == ["2.2", "-", "-", "not", "set"]
    assert lines[3].endswith("uv    no solution")
    column = lines[0].index("result")
    assert {line[column - 1] for line in lines} == {" "}
