"""Random programs, put together from the corpus: what must hold of all of them."""

import ast
import io
import tempfile
import tokenize

import libcst as cst
import pytest

from tests.tools.migrate import harness

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

BEFORE, _, LINES = harness.lines("lines_2_0")
LATER = harness.lines("lines_2_2")[2] + harness.lines("lines_latest")[2]
_BAD = (":=",)  # Python 3.7 does not parse it

statements = st.lists(
    st.sampled_from(
        [each.before for each in LINES + LATER if not any(word in each.before for word in _BAD)]
    ),
    min_size=1,
    max_size=6,
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
    assert new.count("#") == text.count("#")


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


class _Commented(cst.CSTTransformer):
    """Puts each argument of a call on a line of its own, with a comment of its own."""

    count = 0

    def leave_Call(self, original_node, updated_node):
        if not updated_node.args:
            return updated_node
        return updated_node.with_changes(
            whitespace_before_args=self._space("    "),
            args=[
                each.with_changes(
                    comma=cst.Comma(whitespace_after=self._space("    ")),
                    whitespace_after_arg=cst.SimpleWhitespace(""),
                )
                for each in updated_node.args[:-1]
            ]
            + [
                updated_node.args[-1].with_changes(
                    comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=self._space("")
                )
            ],
        )

    def visit_FormattedString(self, node):
        return False

    def _space(self, last):
        self.count += 1
        return cst.ParenthesizedWhitespace(
            first_line=cst.TrailingWhitespace(
                whitespace=cst.SimpleWhitespace("  "), comment=cst.Comment("# c%d" % self.count)
            ),
            indent=True,
            last_line=cst.SimpleWhitespace(last),
        )


def comments(text):
    return sorted(
        token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    )


@SETTINGS
@hypothesis.given(statements, st.booleans(), st.sampled_from(["2.0", "2.2", "latest"]))
def test_comments_within_calls_survive(parts, eager, target):
    text = cst.parse_module(program(parts, eager)).visit(_Commented()).code
    assert "# c1" in text
    new = migrated(text, target)
    ast.parse(new)
    assert comments(new) == comments(text)
