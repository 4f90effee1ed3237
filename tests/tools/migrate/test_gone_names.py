"""Public names of 1.13 to 2.15 that are gone today: each use is renamed, or told with its line."""

import os

import pytest

from compat.make import first_generation
from tests.tools.migrate import harness
from tpudist import surfaces
from tpudist.surfaces import leads

with open(os.path.join(harness.CASES, "gone_names.lst"), encoding="utf-8") as _file:
    #: {name: where old releases had it}.
    NAMES = {name: where.split(",") for name, where in map(str.split, _file)}
TODAY = [each for each in surfaces.GONE_TODAY if each.partition(".")[0] != "python"]


def test_every_name_that_is_gone_has_its_line():
    assert len(NAMES) > 140
    assert [each for each in NAMES if not told_as(each) and each not in renamed()] == []


def test_no_line_is_without_a_name():
    listed = {told_as(name) for name in NAMES}
    told = {*listed, *surfaces.GONE}
    assert [each for each in surfaces.GONE_TODAY if each not in told] == []
    assert [each for each in renamed() if each not in NAMES] == []


def renamed():
    return surfaces.RENAMED_TODAY


def told_as(name):
    """The line of the tables that a name is told by."""
    return leads.gone_today(name)


@pytest.mark.parametrize("name", sorted(TODAY))
def test_what_is_told_is_no_name_of_today(name):
    tf = pytest.importorskip("tensorflow", minversion="2.16")
    assert not first_generation.is_there(tf, name)
    kept = first_generation.is_there(tf.compat.v1, name)
    lazy = name in ("layers", "nn.rnn_cell")  # of Keras 3, which has none
    assert lazy or kept == (name in surfaces.KEPT_IN_V1)


@pytest.mark.parametrize(("old", "new"), sorted(surfaces.RENAMED_TODAY.items()))
def test_a_new_name_is_there(old, new):
    tf = pytest.importorskip("tensorflow", minversion="2.16")
    assert first_generation.is_there(tf, new)
    assert not first_generation.is_there(tf, old)
    assert not first_generation.is_there(tf.compat.v1, old)


def split(name):
    """(``.a.b`` of a name below ``tf``, its last word)."""
    above, _, last = name.rpartition(".")
    return above and "." + above, last


#: A use of a name in a file, by `split`; {0} is a number.
FORMS = {
    "an expression": "x{0} = tf{1}.{2}",
    "a call": "tf{1}.{2}(a, b=1)",
    "in a function": "def f{0}(a):\n    b = a\n    return tf{1}.{2}(b)\n",
    "in a method": "class A{0}(object):\n    def f(self, a):\n        self.b = tf{1}.{2}(a)\n",
    "as a default": "def f{0}(a=tf{1}.{2}):\n    return a\n",
    "a base class": "class A{0}(tf{1}.{2}):\n    pass\n",
    "of tensorflow": "import tensorflow\ntensorflow{1}.{2}(a)",
    "imported": "from tensorflow{1} import {2} as x{0}",
    "imported and called": "from tensorflow{1} import {2} as x{0}\ndef f{0}():\n    x{0}()\n",
    "an imported module": "from tensorflow{3} import {4} as m{0}\nm{0}.{2}(a)",
    "a module as a name": "import tensorflow{1} as m{0}\ndef f{0}(a):\n    return m{0}.{2}(a)\n",
    "a module in a variable": "m{0} = tf{1}\ndef f{0}(a):\n    return m{0}.{2}(a)\n",
    "a module in an attribute": (
        "class A{0}(object):\n    def __init__(self):\n        self.m{0} = tf{1}\n"
        "    def f(self, a):\n        return self.m{0}.{2}(a)\n"
    ),
}
_NEEDS_A_MODULE = "an imported module", "a module as a name", "a module in a variable"
_NEEDS_A_MODULE += ("a module in an attribute",)


def uses(form, root):
    """[(name, its lines)] of every name in a form."""
    found = []
    for index, (name, where) in enumerate(sorted(NAMES.items())):
        above, last = split(name)
        if (root == ".compat.v1" and "v1" not in where) or (form in _NEEDS_A_MODULE and not above):
            continue
        outer, inner = split((root + above).lstrip("."))
        found.append((name, FORMS.get(form, form).format(index, root + above, last, outer, inner)))
    return found


def check(folder, found, head, is_v1):
    """Asserts what becomes of names, each with its lines, below a head."""
    text = head + "".join(lines.rstrip("\n") + "\n" for _, lines in found)
    harness.put(folder, {"a.py": text})
    result = harness.results(folder, "latest")["a.py"]
    assert not result.refused
    told = {use.line for use in result.left if use.rule == "gone-names"}
    kept = surfaces.KEPT_IN_V1 if is_v1 else ()
    first = head.count("\n") + 1
    for name, lines in found:
        end = first + lines.rstrip("\n").count("\n") + 1
        if name not in renamed():  # of which some are in modules that are gone
            is_told = told_as(name) not in kept
            assert bool(told & set(range(first, end))) == is_told, name
        first = end
    after = result.after.decode()
    for name, lines in found:
        if name in renamed():
            assert lines.rstrip("\n") + "\n" not in after, name
            assert renamed()[name].rpartition(".")[2] in after
    return after


@pytest.mark.parametrize("form", FORMS)
def test_every_use_is_renamed_or_told(form, tmp_path):
    check(tmp_path, uses(form, ""), "import tensorflow as tf\n", False)


@pytest.mark.parametrize("form", FORMS)
def test_every_use_of_compat_v1_is_renamed_or_told(form, tmp_path):
    check(tmp_path, uses(form, ".compat.v1"), "import tensorflow as tf\n", True)


@pytest.mark.parametrize("root", ["", ".compat.v1"])
def test_every_name_in_a_string_is_told(root, tmp_path):
    found = uses("x{0} = getattr(tf{1}, '{2}')", root)
    harness.put(
        tmp_path, {"a.py": "import tensorflow as tf\n" + "\n".join(lines for _, lines in found)}
    )
    left = harness.results(tmp_path, "latest")["a.py"].left
    told = {use.line for use in left}
    kept = surfaces.KEPT_IN_V1 if root else ()
    for number, (name, _) in enumerate(found, 2):
        if told_as(name) in (name, None):  # else the module is told, once
            assert (number in told) == (told_as(name) not in kept), name


@pytest.mark.parametrize("form", ["an expression", "in a function", "imported"])
def test_every_use_of_a_program_of_tensorflow_1_is_renamed_or_told(form, tmp_path):
    found = [(name, lines) for name, lines in uses(form, "") if "v1" in NAMES[name]]
    after = check(tmp_path, found, "import tensorflow as tf\ntf.Session()\n", True)
    assert "import tensorflow.compat.v1 as tf" in after
