"""Members of other objects that have the name of a strategy's: told only where it may be one."""

import pytest

from tests.tools.migrate import harness

#: A file to which another one hands a strategy; the lines with a comment are told.
MEMBERS = """import tensorflow as tf
import functools, os.path, strategy_lib, copy as numpy
def f(x, d, m, f, copy):
    d.update(), d.update(x), d.update(x, a=1), d.update(*x), d.update(x, **f), f(d.update)
    d.update(x, f), d.update(x, fn=f), d.update(fn=f, var=x)
    m.group(), m.group(1), m.group("a"), m.group(x), m.group(value=x), m.group(None)
    d.map(f), d.map(f, num_parallel_calls=2)
    d.initialize(1), d.initialize(a=1), d.finalize(x), x.minimize(f)
    tf.group(x), functools.reduce(f, x), functools.call_for_each_tower(f)
    os.path.update(x), os.path.group(x), numpy.group(x), copy.group(x), strategy_lib.update(x, f)
    d["update"], print("update", "group"), [g.group(x) for g in f]
    my_strategy.update(x)  # it may be a strategy's
    getattr(x, "update")  # a strategy's update may be reached
    vars(x)["update"]  # a strategy's update may be reached
    x.__dict__["update"]  # a strategy's update may be reached
    x.map(x, f)  # no strategy of 2.x has it
    x.initialize()  # no one resolver is named here
    x.initialize(*f)  # no one resolver is named here
def g(x):
    numpy = x
"""
HANDING = "import tensorflow as tf\nimport a\na.f(tf.distribute.get_strategy())\n"


def test_members_that_others_have_too(tmp_path):
    harness.put(tmp_path, {"a.py": MEMBERS, "main.py": HANDING})
    result = harness.results(tmp_path, "latest")["a.py"]
    expected = {
        number: line.partition("  # ")[2]
        for number, line in enumerate(MEMBERS.split("\n"), 1)
        if "#" in line
    }
    assert sorted(use.line for use in result.left) == sorted(expected)
    assert [use for use in result.left if expected[use.line] not in harness.said(use)] == []
    assert result.after == MEMBERS.encode()


@pytest.mark.parametrize("call", ["s.update(*v)", "s.update(v, f)"])
def test_a_call_that_a_strategy_takes_is_left(tmp_path, call):
    text = "import tensorflow as tf\ndef f(s, v, f):\n    return %s\n" % call
    texts, left = harness.migrated(tmp_path, {"a.py": text, "main.py": HANDING}, "latest")
    assert texts["a.py"] == text and left == {"extended"}


@pytest.mark.parametrize(
    "head", ['"""MirroredStrategy."""\n', "s = tf.distribute.get_strategy()\n"]
)
def test_members_of_what_no_strategy_reaches(tmp_path, head):
    text = "import tensorflow as tf\n%sK = tf.keras.backend\ndef f(x, hp):\n" % head
    text += "    x.device\n    x.map(hp)\n    x.make_dataset_iterator(1)  # told\n"
    text += "    x.distribute_dataset(1)  # told\n    getattr(hp, 'scope')\n    getattr(hp, x)\n"
    text += "    getattr(K, 'get_session')  # told\n"
    harness.put(tmp_path, {"a.py": text})
    left = harness.results(tmp_path, "latest")["a.py"].left
    lines = text.split("\n")
    assert {use.line for use in left} == {
        number for number, line in enumerate(lines, 1) if line.endswith("# told")
    }


def test_a_method_of_a_class_of_another_file_is_no_method_of_keras(tmp_path):
    names = "reset_states", "predict_proba", "fit_generator", "save"
    own = "import tensorflow as tf\nclass Own:\n"
    own += "".join("    def %s(self, x):\n        return tf.abs(x)\n" % name for name in names)
    main = "import tensorflow as tf\nimport own\nl = tf.keras.layers.RNN(cell, time_major=True)\n"
    main += "def f(g):\n    model = own.Own()\n"
    main += "".join("    model.%s('x')\n" % name for name in names)
    harness.put(tmp_path, {"own.py": own, "main.py": main})
    found = harness.results(tmp_path, "latest")
    assert {name: [use.line for use in each.left] for name, each in found.items()} == {
        "main.py": [3],
        "own.py": [],
    }
