"""The time that one file takes: linear in its assignments, and limited."""

import time

import pytest

from tests.tools.migrate import harness
from tpudist.tools.migrate import code_in_strings, handed_on, outcomes

TEXT = """from tpudist.v2_0 import tensorflow as tf
strategy = tf.distribute.get_strategy()
strategy.experimental_run_v2(fn)
"""


def reassigned(count):
    """A file of one variable that is assigned again and again, in branches and loops."""
    operations = ("map(parse)", "filter(keep)", "cache()", "shuffle(9)", "repeat()", "batch(8)")
    lines = ["def pipeline(files, train):", "    ds = tf.data.TFRecordDataset(files)"]
    for index in range(count):
        line = "ds = ds.%s" % operations[index % len(operations)]
        lines += ["    if train:", "        " + line] if index % 3 else ["    " + line]
    return "\n".join(lines + ["    return ds", "pipeline(f, 1).experimental_run_v2(step)", ""])


TEXT += reassigned(200)


def migrate(folder, text, **changes):
    """The Result of a file."""
    harness.put(folder, {"a.py": text})
    return harness.results(folder, "2.2", **changes)["a.py"]


def test_many_reassignments_take_no_time(tmp_path):
    start = time.process_time()
    found = migrate(tmp_path, TEXT)
    assert time.process_time() - start < 2
    assert len(found.rewritten) == 2


@pytest.mark.parametrize("filler", ["a", "A", "a.", "A(", " ", "_"])
@pytest.mark.parametrize("line", ['y = "%s"\n', "# %s\n"])
def test_a_line_of_one_long_word_takes_no_time(tmp_path, filler, line):
    """Patterns that begin anew at each letter of a word take hours for this one."""
    text = "x = tf.__dict__['Session']\nvars(tf)['log']\nm.add_weight('a', weights=1)\n"
    text += "importlib.import_module('tensorflow.keras.backend').get_session\n"
    start = time.process_time()
    found = migrate(tmp_path, "import tensorflow as tf\n" + text + line % (filler * 200000))
    assert time.process_time() - start < 2
    assert not found.refused


@pytest.mark.parametrize("word", ["x", ".x", "x()", ".x()"])
@pytest.mark.parametrize("filler", ["x.", "x(", "x().a", ". ", "x. ", "x"])
def test_a_word_again_and_again_takes_no_time(word, filler):
    start = time.process_time()
    handed_on.may_be_handed_on(filler * 50000, word)
    list(handed_on.standing(filler * 50000, {"x": {""}}, lambda name: False))
    assert time.process_time() - start < 2


def chain(count):
    """A file of one long ``elif`` chain."""
    lines = ["import tensorflow as tf", "def make(name):", "    if name:"]
    made = "        return tf.contrib.distribute.TPUStrategy(r)"
    for index in range(count):
        lines += [made, "    elif name == %d:" % index]
    return "\n".join(lines + ["        return None", ""])


@pytest.mark.parametrize("count", [50, 400, 1500])
def test_a_long_chain_is_read_or_refused(count, tmp_path):
    found = migrate(tmp_path, chain(count))
    assert len(found.rewritten) == count + 1 or "too deeply" in found.refused


def test_a_file_that_takes_too_long_is_left_and_named(tmp_path):
    found = migrate(tmp_path, TEXT, time_limit=1e-9)
    assert found.after == TEXT.encode() and not found.rewritten
    assert [(use.rule, use.line) for use in found.left] == [("time-limit", 1)]
    assert outcomes.exit_code([found], check=False) == 1


HEAD = '"""What it does: it trains."""\n\nimport os\nimport tensorflow as tf\n'
CODE = "# of its own\nimport tensorflow as tf\ntf.Session()\n"


@pytest.mark.parametrize(
    "text, looked",
    [
        ("model.compile(loss)\nx = sess.run(y.eval(z))\nkernel.dispatch(a)\n", 0),
        ('PROGRAM = """\n%s"""\n' % CODE, 1),
        ('if True:\n    exec(  # now\n        (r"tf.Session()"))\n', 1),
        ('import timeit\ntimeit.timeit("tf.Session()")\n', 1),
    ],
)
def test_strings_are_looked_through_where_one_may_be_code(tmp_path, monkeypatch, text, looked):
    found, through = [], code_in_strings._of_tree
    monkeypatch.setattr(
        code_in_strings, "_of_tree", lambda *args: found.append(args) or through(*args)
    )
    harness.put(tmp_path, {"a.py": HEAD + "tf.Session()\n" + text})
    result = harness.results(tmp_path, "latest")["a.py"]
    assert len(found) == looked
    assert len([use for use in result.left if "code in a string" in use.seen]) == looked
