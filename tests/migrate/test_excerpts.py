"""Reading a file in part: the same outcome as reading all of it."""

import ast
import sys

import pytest

from tests.migrate import harness, test_programs
from tpudist.migrate import engine, excerpts, survey
from tpudist.resolution import codebase

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 8), reason="ast does not say where a definition ends: all is read"
)

_FILE = '''"""A file."""
import tensorflow as tf
from tensorflow.contrib import summary

layer = tf.contrib.layers.conv2d


class Model(tf.keras.Model):
    @property
    def size(self):
        """Has \\"quotes\\"."""
        return 3  # of it

    def call(self, x):
        return layer(x)

    def one(self): return 1


def plain(x):
    return tf.log(x)


def told(x):
    summary.scalar("x", x)
    return tf.layers.dense(x, 1), tf.layers.flatten(x)


def told_before(x):
    return tf.layers.dense(x, 2)
'''


def outcomes(folder, to, whole):
    """[(path, new bytes, what is left, rules)] of a folder."""
    files = codebase.CodeBase([str(folder)])
    known = survey.Survey(files)
    migrating = engine.Engine(files, known, harness.options(to, report=""), whole=whole)
    found = [migrating.migrate(path) for path in known.files]
    return [
        (each.path, each.after, each.left, each.refused, [use.rule for use in each.rewritten])
        for each in found
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_as_many_lines_and_put_back(newline, end):
    text = _FILE.rstrip("\n").replace("\n", newline) + end
    excerpt = excerpts.of(text)
    assert len(excerpt.parts) == 4  # size, one, plain, told_before
    assert len(excerpt.text.splitlines()) == len(text.splitlines())
    assert excerpts.restored(excerpt, excerpt.text) == text
    assert "tf.log" not in excerpt.text and "layer(x)" in excerpt.text
    assert "tf.layers.flatten" in excerpt.text
    ast.parse(excerpt.text)


@pytest.mark.parametrize("text", ["def f(:\n", "'tpudist:0'\n\ndef f():\n  pass\n"])
def test_what_is_read_whole(text):
    assert excerpts.of(text) is None


def test_a_part_that_is_gone_is_told():
    excerpt = excerpts.of(_FILE)
    assert excerpts.restored(excerpt, excerpt.text.replace("tpudist:2", "")) is None


def test_a_module_of_contrib_that_another_file_returns(tmp_path):
    harness.put(
        tmp_path,
        {
            "wrapped.py": "def eager():\n  from tensorflow.contrib import eager as e\n  return e\n",
            "a.py": "import tensorflow as tf\nimport wrapped as contrib\n"
            "tfe = contrib.eager()\ntf.log(1)\n\ndef f():\n  return tfe.Variable(1)\n",
        },
    )
    assert [use.line for use in outcomes(tmp_path, "latest", False)[0][2]] == [7]


@pytest.mark.parametrize("to", ["2.2", "latest"])
def test_the_same_outcome(to, tmp_path):
    harness.put(tmp_path, {"a.py": _FILE, "b.py": "import tensorflow as tf\nimport a\ntf.log(1)\n"})
    assert outcomes(tmp_path, to, False) == outcomes(tmp_path, to, True)


@pytest.mark.parametrize(
    "case",
    [case for case in test_programs.CASES if not case.options and case.to in ("2.2", "latest")],
    ids=lambda case: case.name,
)
def test_the_same_outcome_of_the_corpus(case, tmp_path):
    harness.put(tmp_path, {name: both[0] for name, both in case.files.items()})
    assert outcomes(tmp_path, case.to, False) == outcomes(tmp_path, case.to, True)
