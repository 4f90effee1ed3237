"""Random programs, put together from the corpus: what must hold of all of them."""

import ast
import io
import itertools
import re
import tempfile
import tokenize

import pytest

from tests.tools.migrate import harness

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

BEFORE, _, LINES = harness.lines("lines_2_0")
LATER = harness.lines("lines_2_2")[2] + harness.lines("lines_latest")[2]

statements = st.lists(
    st.sampled_from([each.before for each in LINES + LATER]), min_size=1, max_size=6
)
SETTINGS = hypothesis.settings(max_examples=40, deadline=None)


def program(parts, eager):
    """A file that says all the statements, half of them inside a function."""
    half = len(parts) // 2
    inner = "\n".join(parts[:half] or ["pass"]).replace("\n", "\n    ")
    return (
        BEFORE
        + ("" if eager else "session = tf.Session()\n")
        + ("def main(session, x):\n    %s\n" % inner)
        + "\n".join(parts[half:])
        + "\n"
    )


def migrated(text, *targets, **changes):
    """The text after migrating to one target after the other."""
    for target in targets:
        with tempfile.TemporaryDirectory() as folder:
            texts, _ = harness.migrated(folder, {"a.py": text}, target, **changes)
        text = texts["a.py"]
    return text


@SETTINGS
@hypothesis.given(statements, st.booleans(), st.sampled_from(["2.0", "2.2", "latest", "contrib"]))
def test_migrating_twice_changes_nothing_more(parts, eager, target):
    once = migrated(program(parts, eager), target)
    assert migrated(once, target) == once


_GRAPH_ITERATOR = (
    "it = strategy.experimental_distribute_datasets_from_function(f).make_initializable_iterator()"
)


@SETTINGS
@hypothesis.example([_GRAPH_ITERATOR], True)
@hypothesis.given(statements, st.booleans())
def test_step_by_step_is_the_same_as_at_once(parts, eager):
    text = program(parts, eager)
    assert migrated(text, "2.0", "2.2") == migrated(text, "2.2")


@SETTINGS
@hypothesis.given(statements, st.booleans())
def test_the_import_level_first_changes_nothing_of_the_full_one(parts, eager):
    # With "auto", names of 1.14 tell that the loss was not divided; the contrib
    # surface divides it always.
    text = program(parts, eager)
    assert migrated(text, "contrib", "2.0", origin="1.13") == migrated(text, "2.0", origin="1.13")


@SETTINGS
@hypothesis.given(statements, st.booleans(), st.sampled_from(["2.0", "2.2", "latest"]))
def test_output_parses_and_keeps_comments(parts, eager, target):
    text = program(parts, eager) + "# the end\n"
    new = migrated(text, target)
    ast.parse(new)
    assert new.endswith("# the end\n")
    assert new.count("#") - new.count("# tpudist: left[") == text.count("#")


@SETTINGS
@hypothesis.given(statements, st.sampled_from(["2.0", "2.2", "latest"]))
def test_newlines_do_not_matter(parts, target):
    text = program(parts, True)
    assert migrated(text.replace("\n", "\r\n"), target) == migrated(text, target).replace(
        "\n", "\r\n"
    )


@SETTINGS
@hypothesis.given(statements)
def test_without_tensorflow_nothing_changes(parts):
    text = program(parts, True).replace("tensorflow", "other")
    assert migrated(text, "latest") == text


def commented(text):
    """A source with a line of its own, and a comment, for whatever stands in parentheses."""
    numbers, depth, in_f_string, last = itertools.count(1), 0, 0, (1, 0)
    lines, parts = text.splitlines(True), []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        in_f_string += {"FSTRING_START": 1, "FSTRING_END": -1}.get(_kind(token), 0)
        parts.append(_between(lines, last, token.start))
        if token.string == ")" and depth and not in_f_string:
            parts.append("  # c%d\n" % next(numbers))
        depth += {"(": 1, ")": -1}.get(token.string, 0)
        parts.append(_between(lines, token.start, token.end))
        if token.string in ("(", ",") and depth and not in_f_string:
            parts.append("  # c%d\n    " % next(numbers))
        last = token.end
    return "".join(parts)


def _kind(token):
    return tokenize.tok_name[token.type]


def _between(lines, start, end):
    """The text between two (line, column)."""
    if start[0] > len(lines):
        return ""
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    first = lines[start[0] - 1][start[1] :]
    rest = lines[end[0] - 1][: end[1]] if end[0] <= len(lines) else ""
    return first + "".join(lines[start[0] : end[0] - 1]) + rest


def comments(text):
    return sorted(
        token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    )


@SETTINGS
@hypothesis.given(statements, st.booleans(), st.sampled_from(["2.0", "2.2", "latest"]))
def test_comments_within_calls_stay_and_change_nothing(parts, eager, target):
    plain = program(parts, eager)
    text = commented(plain)
    assert "# c1\n" in text and ast.dump(ast.parse(text)) == ast.dump(ast.parse(plain))
    new = migrated(text, target)
    assert ast.dump(ast.parse(new)) == ast.dump(ast.parse(migrated(plain, target)))
    assert comments(re.sub(r"  # tpudist: left\[.*\]", "", new)) == comments(text)
