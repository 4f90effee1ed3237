"""What a failing pin says."""

import math

import pytest

from tpudist.toolbox import compare


def explain(expected, obtained, **tolerances):
    found = compare.differences(expected, obtained, **tolerances)
    return compare.explain(expected, obtained, found).splitlines()


def test_a_series_shows_the_steps_around_the_first_that_differs():
    expected = [float(i) for i in range(10)]
    obtained = expected[:4] + [4.5] + expected[5:7] + [7.25] + expected[8:]
    assert explain(expected, obtained) == [
        "  first difference at step 4; 2 of 10 steps differ",
        "     step  expected  obtained  difference",
        "     2     2         2",
        "     3     3         3",
        "  >  4     4         4.5       0.5",
        "     5     5         5",
        "     6     6         6",
        "  >  7     7         7.25      0.25",
        "     8     8         8",
    ]


def test_a_series_inside_a_nest_is_named():
    lines = explain({"eval": [1.0, 2.0], "n": 1}, {"eval": [1.0, 3.0], "n": 2})
    assert lines[0] == "  first difference at step 1 of ['eval']; 1 of 2 steps differ"
    assert lines[-1] == "  and 1 more differences"


@pytest.mark.parametrize(
    ("expected", "obtained", "row"),
    [
        ([1.0, 2.0], [1.0], "  >  1     2         (nothing)"),
        ([1.0], [1.0, 2.0], "  >  1     (nothing)  2"),
        ([1.0, 2.0], [1.0, math.nan], "  >  1     2         nan       nan"),
        ([1, "a"], [1, "b"], "  >  1     'a'       'b'"),
        ([None], [0.0], "  >  0     None      0"),
    ],
)
def test_steps_of_every_kind(expected, obtained, row):
    assert row in explain(expected, obtained)


def test_a_nest_shows_where():
    assert explain(
        {"a": {"b": 1.0}, "c": [[1.0, 2.0]]}, {"a": {"b": 2.0}, "c": [[1.0, 2.0]], "d": 0}
    ) == [
        "  first difference at ['a']['b']; 2 in all",
        "     at          expected   obtained  difference",
        "     ['a']['b']  1          2         1",
        "     ['d']       (nothing)  0",
    ]


def test_a_single_value():
    lines = explain(1.0, 1.5)
    assert lines[0] == "  first difference at the value; 1 in all"
    assert lines[2].split() == ["the", "value", "1", "1.5", "0.5"]


def test_much_is_cut_short():
    expected = {"k%02d" % i: "x" * 100 for i in range(30)}
    lines = explain(expected, dict.fromkeys(expected, "y"))
    assert lines[-1] == "  and 20 more differences"
    assert len(lines) == 13 and max(map(len, lines)) < 100


@pytest.mark.parametrize(
    ("path", "text"),
    [((), "the value"), (("a", 3), "['a'][3]"), (("$replicas", 0), "['$replicas'][0]")],
)
def test_place(path, text):
    assert compare.place(path) == text
