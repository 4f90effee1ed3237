"""What is counted is what stands in the diff, and what is quoted stands in the file."""

import ast
import difflib

import pytest

from tests.tools.migrate import harness, test_programs, test_properties

hypothesis = test_properties.hypothesis


def touched(before, after):
    """The lines that differ from another text, from 1; those beside what is put in."""
    found = set()
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind != "equal":
            found.update(range(first + 1, last + 1))
        if end - start > last - first:
            found.update((first, first + 1))
    return found


def statements(text):
    """{line: lines of the statement that it is of}; of a compound one, its head's."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            start = min(
                [node.lineno] + [each.lineno for each in getattr(node, "decorator_list", ())]
            )
            end = body[0].lineno - 1 if body else node.end_lineno
            for line in range(start, max(start, end) + 1):
                found.setdefault(line, set()).update(range(start, max(start, end) + 1))
    return found


def check(result):
    """Asserts it of a Result of a Python file."""
    before, after = result.before.decode("utf-8"), result.after.decode("utf-8")
    changed, near = touched(before, after), statements(before)
    for use in result.rewritten:
        assert near.get(use.line, {use.line}) & changed, use
    counted = {line for use in result.rewritten for line in near.get(use.line, {use.line})}
    counted.update(use.line for use in result.left)  # which may get a mark
    lines = before.splitlines()
    loops = any(use.rule == "run-steps-on-dataset" for use in result.rewritten)
    for line in () if loops else changed:  # a loop changes its function too
        if line and line <= len(lines) and lines[line - 1].strip():
            around = set().union(*[near.get(line + step, {line}) for step in (-1, 0, 1)])
            assert around & counted, line
    everything = "".join(before.split())
    for use in result.rewritten:
        assert "".join(use.seen.split()) in everything, use
    for use in result.left:
        is_import = use.seen.startswith("import of ")
        if use.rule != "imports" and not is_import:
            assert "".join(use.seen.split()) in everything, use


@pytest.mark.parametrize("corpus", test_programs.CORPORA)
def test_of_the_corpus(corpus, tmp_path):
    for number, case in enumerate(harness.programs(corpus)):
        folder = tmp_path / str(number)
        harness.put(folder, {name: both[0] for name, both in case.files.items()})
        for name, result in harness.results(folder, case.to, **case.options).items():
            if name.endswith(".py"):
                check(result)
                is_counted = bool(result.rewritten) or b"# tpudist: left" in result.after
                assert is_counted == (result.before != result.after), (case.name, name)


@test_properties.SETTINGS
@hypothesis.given(
    test_properties.statements,
    test_properties.st.booleans(),
    test_properties.st.sampled_from(["2.0", "2.2", "latest"]),
)
@hypothesis.example(parts=["tf.contrib.rnn.LSTMCell(8)"], eager=False, target="latest")
def test_of_random_programs(tmp_path_factory, parts, eager, target):
    folder = tmp_path_factory.mktemp("random")
    harness.put(folder, {"a.py": test_properties.program(parts, eager)})
    for result in harness.results(folder, target).values():
        check(result)


def test_an_import_that_stays_is_not_counted(tmp_path):
    text = "import tensorflow as tf\ntf.distribute.get_strategy().experimental_run_v2(f)\n"
    harness.put(tmp_path, {"a.py": text})
    found = harness.results(tmp_path, "latest")["a.py"]
    assert [use.rule for use in found.rewritten] == ["run"]


def test_a_name_that_two_steps_change_is_one_use(tmp_path):
    text = "import tensorflow as tf\ns = tf.contrib.distribute.TPUStrategy(r)\n"
    text += "s.experimental_run_v2(f)\n"
    harness.put(tmp_path, {"a.py": text})
    found = harness.results(tmp_path, "latest")["a.py"].rewritten
    assert [(use.line, use.seen) for use in found if use.rule == "constructor"] == [
        (2, "tf.contrib.distribute.TPUStrategy")
    ]
    assert {use.rule for use in found} == {"constructor", "run", "imports"}


def test_a_session_quotes_the_import_and_not_the_comment_above_it(tmp_path):
    text = "import sys\n# Brings TensorFlow.\nimport tensorflow as tf\ntf.Session()\n"
    harness.put(tmp_path, {"a.py": text})
    uses = harness.results(tmp_path, "latest")["a.py"].rewritten
    assert {(use.line, use.rule, use.seen) for use in uses} >= {
        (3, "sessions", "import tensorflow as tf")
    }
