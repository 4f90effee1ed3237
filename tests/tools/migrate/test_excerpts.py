"""Reading a file in part: the same outcome as reading all of it."""

import ast
import sys

import pytest

from tests.tools.migrate import harness, test_carriers, test_programs
from tpudist.tools.migrate import engine, excerpts, survey
from tpudist.tools.migrate.resolution import codebase

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


@pytest.mark.parametrize("way", sorted(test_carriers.PROGRAMS))
def test_the_same_outcome_of_what_is_handed_on(way, tmp_path):
    head = "import tensorflow as tf\ndef other(x):\n    return tf.nn.relu(x)\n"
    program = test_carriers.PROGRAMS[way].items()
    harness.put(tmp_path, {name: head + text for name, text in program})
    assert outcomes(tmp_path, "latest", False) == outcomes(tmp_path, "latest", True)


@pytest.mark.parametrize("to", ["2.2", "latest"])
@pytest.mark.parametrize(
    "text, read",
    [
        ("x = layer(x)\n    return x\ndef g(x):\n    return x", False),
        ("self.net = layer(x)\n    return self\ndef g(self):\n    return self.net", False),
        ("x = [tf.contrib.layers]\n    return x\ndef g(x):\n    return x[0].conv2d(1)", True),
        ("K = getattr(tf.contrib, 'layers')\ndef g(x):\n    return K.conv2d(1)", True),
        ("mode == est.ModeKeys.EVAL\ndef g(x):\n    return x == est.ModeKeys.EVAL", False),
        ("pass\ndef g():\n    return tf.distribute.cluster_resolver.TPUClusterResolver()", True),
        ("pass\ndef g():\n    return Net()", True),
    ],
)
def test_what_is_read_of_a_function(tmp_path, text, read, to):
    text = (
        "import tensorflow as tf\nfrom tensorflow import estimator as est\n"
        "from tensorflow.keras.layers import CuDNNLSTM as Net\n"
        "layer = tf.contrib.layers.conv2d\ndef f(x, mode):\n    %s\n" % text
    )
    excerpt = excerpts.of(text)
    assert ("def g" in excerpt.text) == read
    harness.put(tmp_path, {"a.py": text})
    assert outcomes(tmp_path, to, False) == outcomes(tmp_path, to, True)


@pytest.mark.parametrize(
    "text, made",
    [
        ('"""A DistributionStrategy."""\n', False),
        ("# get_strategy\n", False),
        ("s = tf.distribute.MirroredStrategy()\n", True),
        ("from tensorflow.distribute import get_strategy\n", True),
        ("tf.estimator.RunConfig(distribute=s)\n", True),
        ("s = getattr(tf.distribute, 'MirroredStrategy')()\n", True),
        ("def f(s: 'tf.distribute.Strategy'):\n    pass\n", True),
        ("s = f()  # tpudist: strategy\ntf.contrib.x()\n", True),
    ],
)
def test_a_strategy_is_made_by_code(tmp_path, text, made):
    harness.put(tmp_path, {"a.py": "import tensorflow as tf\n" + text})
    found = survey.Survey(codebase.CodeBase([str(tmp_path)]))
    assert (bool(found.strategic), found.makes_strategies) == (made, made)
    assert found.names_strategies


@pytest.mark.parametrize(
    "head", ['"""MirroredStrategy."""\n', "s = tf.distribute.get_strategy()\n"]
)
def test_members_of_what_no_strategy_reaches(tmp_path, head):
    """The second one is read whole, and has each owner followed."""
    text = "import tensorflow as tf\n%sK = tf.keras.backend\ndef f(x, hp):\n    %s\n"
    body = (
        "x.device\n    x.map(hp)\n    x.make_dataset_iterator(1)\n    x.distribute_dataset(1)\n"
        "    getattr(hp, 'scope')\n    getattr(hp, x)\n    getattr(K, 'get_session')"
    )
    harness.put(tmp_path, {"a.py": text % (head, body)})
    left = harness.results(tmp_path, "latest")["a.py"].left
    assert [use.line for use in left] == [7, 8, 11]


@pytest.mark.parametrize("name", ["reset_states", "predict_proba", "fit_generator", "save"])
def test_a_method_of_a_class_of_another_file(tmp_path, name):
    """It is no method of Keras's, though nothing else in its file is asked for."""
    text = "import tensorflow as tf\nclass Own:\n    def %s(self, x):\n        return tf.abs(x)\n"
    main = "import tensorflow as tf\nimport own\nl = tf.keras.layers.LSTM(3, time_major=True)\n"
    main += "def f(g):\n    model = own.Own()\n    model.%s('x')\n" % name
    harness.put(tmp_path, {"own.py": text % name, "main.py": main})
    assert outcomes(tmp_path, "latest", False) == outcomes(tmp_path, "latest", True)
    assert [use.line for use in outcomes(tmp_path, "latest", False)[0][2]] == [3]


_MEMBERS = {
    "": [
        "d.update(x)",
        "d.update(x, a=1)",
        "d.update()",
        "m.group(1)",
        "m.group('a')",
        "m.group()",
        "x.map(f)",
        "x.map(f, num_parallel_calls=2)",
        "x.initialize(1)",
        "x.initialize(a=1)",
        "x.finalize(x)",
        "tf.group(x)",
        "functools.reduce(f, x)",
        "os.path.update(x)",
        "d['update']",
        "print('update', 'group')",
        "x.minimize(f)",
    ],
    "update": [
        "d.update(x, f)",
        "d.update(x, fn=f)",
        "d.update(fn=f, var=x)",
        "d.update(*x)",
        "d.update(x, **f)",
        "f(d.update)",
        "my_strategy.update(x)",
        "getattr(x, 'update')",
        "attrgetter('extended.update')(x)",
        "vars(x)['update']",
        "x.__dict__['update']",
        "x.map(f).update(x, f)",
        "strategy_lib.update(x, f)",
    ],
    "group": [
        "m.group(x)",
        "m.group(None)",
        "m.group(value=x)",
        "os.path.group(x)",
        "[g.group(x) for g in f]",
        "numpy.group(x)",
        "copy.group(x)",
    ],
    "map": ["x.map(x, f)", "x.map(f, map_over=x, fn=f)"],
    "initialize": ["x.initialize()", "x.initialize(*f)"],
    "call_for_each_tower": ["functools.call_for_each_tower(f)"],
}


@pytest.mark.parametrize(
    "member, code", [(member, code) for member in _MEMBERS for code in _MEMBERS[member]]
)
def test_members_that_only_others_have(tmp_path, member, code):
    """A file of a program with a strategy is read in part unless it may ask for one of its."""
    text = (
        "import tensorflow as tf\nimport functools, os.path, strategy_lib, copy as numpy\n"
        "tf.contrib.layers.flatten(1)\n"
        "def f(x, d, m, f, copy):\n    return %s\ndef g(x):\n    numpy = x\n" % code
    )
    main = "import tensorflow as tf\nimport a\na.f(tf.distribute.get_strategy())\n"
    harness.put(tmp_path, {"a.py": text, "main.py": main})
    files = codebase.CodeBase([str(tmp_path)])
    known = survey.Survey(files)
    path = str(tmp_path / "a.py")
    assert path in known.strategic
    found = known.excerpts.get(path)
    asked = {each for each in found.members if known.may_be_members(each)} if found else {member}
    assert asked == ({member} if member else set())
    assert outcomes(tmp_path, "latest", False) == outcomes(tmp_path, "latest", True)


@pytest.mark.parametrize(
    "code, rewritten",
    [
        ("s.update(v, f)", True),
        ("s.update(v, fn=f)", True),
        ("s.update(*v)", True),
        ("s.update(v)", False),
        ("s.group(v)", True),
        ("s.group(1)", False),
    ],
)
def test_a_call_that_no_strategy_takes_is_no_strategys(tmp_path, code, rewritten):
    program = "import tensorflow as tf\ntf.Session()\ndef g(s, v, f):\n    return %s\n" % code
    main = "import tensorflow as tf\nimport a\na.g(tf.distribute.get_strategy(), 1, 2)\n"
    harness.put(tmp_path, {"a.py": program, "main.py": main})
    found = harness.results(tmp_path, "latest")["a.py"]
    assert (4 in [use.line for use in found.left + found.rewritten]) == rewritten
