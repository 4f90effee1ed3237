"""The work that a run does: linear in what a file assigns and in files, and limited.

Work is counted in lines of Python that are run: it is the same on every machine, however busy.
"""

import sys
import time

import pytest

from tests.tools.migrate import harness

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


def migrate(folder, text, **changes):
    """The Result of a file."""
    harness.put(folder, {"a.py": text})
    return harness.results(folder, "2.2", **changes)["a.py"]


def lines_run(folder, files):
    """(the Results of a code base, how many lines of Python were run for them)."""
    harness.put(folder, files)
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        found = harness.results(folder, "2.2")
    finally:
        sys.settrace(before)
    return found, count


def test_work_is_linear_in_the_reassignments_of_a_name(tmp_path):
    lines_run(tmp_path / "first", {"a.py": TEXT + reassigned(9)})  # what is kept of a first run
    few, many = (
        lines_run(tmp_path / str(count), {"a.py": TEXT + reassigned(count)}) for count in (50, 200)
    )
    assert len(few[0]["a.py"].rewritten) == len(many[0]["a.py"].rewritten) == 2
    assert many[1] < 5 * few[1]


@pytest.mark.parametrize("filler", ["a", "A", "a.", "A(", " ", "_"])
@pytest.mark.parametrize("line", ['y = "%s"\n', "# %s\n"])
def test_a_line_of_one_long_word_takes_no_time(tmp_path, filler, line):
    """Patterns that begin anew at each letter of a word take hours for this one."""
    text = "x = tf.__dict__['Session']\nvars(tf)['log']\nm.add_weight('a', weights=1)\n"
    text += "importlib.import_module('tensorflow.keras.backend').get_session\n"
    text += "def run(strategy):\n    strategy.experimental_run_v2(step)\nrun(made)\n"
    start = time.process_time()
    found = migrate(tmp_path, "import tensorflow as tf\n" + text + line % (filler * 200000))
    assert time.process_time() - start < 2
    assert not found.refused


@pytest.mark.parametrize("filler", ["x.", "x(", "x().a", ". ", "x. ", "f'{x", "[(", "\\"])
def test_a_string_of_one_pattern_takes_no_time(tmp_path, filler):
    text = "import tensorflow as tf\ntf.Session()\nexec(%r)\n" % (filler * 20000)
    start = time.process_time()
    found = migrate(tmp_path, text + '""">>> %s"""\n' % (filler.replace("\\", "") * 20000))
    assert time.process_time() - start < 2
    assert not found.refused and not found.left


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


BASE = (
    "from tpudist.v2_0 import tensorflow as tf\n"
    "class Layer:\n"
    "    def FProp(self, theta, inputs):\n"
    "        return inputs.experimental_run_v2(theta)\n"
)
#: All have a method of one name, and call that of something which cannot be told.
LAYER = (
    "from tpudist.v2_0 import tensorflow as tf\n"
    "import base, {0}\n"
    "class Layer(base.Layer):\n"
    "    def FProp(self, theta, inputs):\n"
    "        return inputs.unwrap({0}.child().FProp(theta, inputs))\n"
)


def layers(count):
    """A program of some layers, and a file that hands a strategy to what all of them are."""
    before = ["base"] + ["layer%d" % number for number in range(count - 1)]
    files = {"layer%d.py" % n: LAYER.format(before[n]) for n in range(count)}
    files["base.py"] = BASE
    files["last.py"] = "import base\ns = base.tf.distribute.get_strategy()\n"
    files["last.py"] += "base.Layer().FProp(len, s)\n"
    return files


@pytest.mark.slow
def test_work_grows_by_the_files_and_not_by_their_pairs(tmp_path):
    lines_run(tmp_path / "first", layers(4))  # what is kept of a first run
    few, many = (lines_run(tmp_path / str(count), layers(count)) for count in (10, 40))
    for found, _ in (few, many):
        assert found["base.py"].rewritten[-1].instead == "run"
    assert many[1] < 6 * few[1]  # four times the files; 16 times their pairs
