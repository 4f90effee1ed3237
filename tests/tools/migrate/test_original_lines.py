"""Where a use was in the user's file, after a step has moved lines."""

import pytest

from tests.tools.migrate import harness
from tpudist.tools.migrate import original_lines
from tpudist.tools.migrate.resolution import sources

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

_PLAIN = sources.Source("", "utf-8", b"", None)


def place(before, after, line):
    """The old line of a line of the new text."""
    found = original_lines.Places("a.py", _PLAIN._replace(text="\n".join(before)), "\n".join(after))
    use = found.use(line, 1, "rule", "seen", "instead")
    assert (use.path, use.column, use.rule) == ("a.py", 1, "rule")
    return use.line


@pytest.mark.parametrize(
    "before, after, lines",
    [
        (["a", "b", "c"], ["a", "b", "c"], [1, 2, 3]),
        (["a", "b", "c"], ["a", "B", "c"], [1, 2, 3]),
        (["a", "b", "c"], ["x", "y", "b", "c"], [1, 1, 2, 3]),
        (["a", "b", "c"], ["a", "x", "b", "c"], [1, 2, 2, 3]),
        (["a", "b", "c", "d"], ["a", "d"], [1, 4]),
        (["a", "b", "c"], ["A", "x", "B", "c"], [1, 2, 2, 3]),
        (["a", "", "b", "", "c"], ["a", "1", "2", "", "b", "", "c"], [1, 2, 2, 2, 3, 4, 5]),
        (["a"], ["x", "y", "z"], [1, 1, 1]),
    ],
)
def test_lines(before, after, lines):
    assert [place(before, after, line + 1) for line in range(len(after))] == lines


@hypothesis.settings(max_examples=100, deadline=None)
@hypothesis.given(
    st.lists(st.sampled_from(["keep", "change", "split", "drop"]), min_size=3, max_size=60),
    st.randoms(use_true_random=False),
)
def test_lines_that_stay_are_found(actions, chance):
    before, after, expected = [], [], {}
    for index, action in enumerate(["keep"] * 3 + actions):
        before.append("line %d" % index)
        if index % 4 < 3:  # a change has lines around it that stay, as a statement has
            action = "keep"
        if action == "keep":
            expected[len(after) + 1] = index + 1
        after += {
            "keep": [before[-1]],
            "change": ["new %d" % chance.random()],
            "drop": [],
            "split": ["one %d" % index, "two %d" % index],
        }[action]
    for line, old in expected.items():
        assert place(before, after, line) == old


def test_a_file_in_which_every_line_changes(tmp_path):
    text = (
        "from tensorflow.contrib.distribute import TPUStrategy, get_tower_context\n"
        "s = TPUStrategy(r, 3)\n"
        + "s.call_for_each_tower(f)\n\n" * 30
        + "s.experimental_make_numpy_dataset(x, session)\n"
    )
    harness.put(tmp_path, {"a.py": text})
    (use,) = harness.results(tmp_path, "latest")["a.py"].left
    assert (use.rule, use.line) == ("numpy-dataset", 63)
