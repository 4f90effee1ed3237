"""Names that left modules of TensorFlow's own code: told, with what there is today."""

import importlib

import pytest

from compat.first_generation import is_there
from tests.migrate import harness
from tpudist import surfaces

NAMES = surfaces.private_names()
MODULES = sorted({name.rpartition(".")[0] for name in NAMES})


def test_each_is_told(tmp_path):
    text = "import tensorflow as tf\n"
    for number, module in enumerate(MODULES):
        package, _, last = module.rpartition(".")
        text += "from tensorflow.%s import %s as m%d\n" % (package, last, number)
    uses = [(n, name) for n, module in enumerate(MODULES) for name in NAMES if _in(name, module)]
    first = text.count("\n") + 1
    text += "".join("x = m%d.%s\n" % (n, name.rpartition(".")[2]) for n, name in uses)
    harness.put(tmp_path, {"a.py": text})
    left = harness.results(tmp_path, "latest")["a.py"].left
    told = {use.line: use.instead for use in left}
    assert told == {line: NAMES[name] for line, (_, name) in enumerate(uses, first)}


def _in(name, module):
    return name.rpartition(".")[0] == module


def test_an_import_is_told_and_what_is_there_is_not(tmp_path):
    text = "from tensorflow.python.ops.array_ops import stack, boolean_mask\n"
    text += "from tensorflow.python.ops import array_ops\narray_ops.boolean_mask(x, y)\n"
    harness.put(tmp_path, {"a.py": text})
    (use,) = harness.results(tmp_path, "latest")["a.py"].left
    assert (use.line, use.instead) == (1, "tf.stack")


@pytest.mark.parametrize("module", MODULES)
def test_today_the_module_is_there_without_them(module):
    tf = pytest.importorskip("tensorflow", minversion="2.21")
    loaded = importlib.import_module("tensorflow." + module)
    for name, instead in NAMES.items():
        if _in(name, module):
            assert not hasattr(loaded, name.rpartition(".")[2])
            if instead.startswith("tf."):
                assert is_there(tf, instead[len("tf.") :])
            elif instead.startswith("tensorflow."):
                home, _, today = instead.partition(",")[0].rpartition(".")
                assert hasattr(importlib.import_module(home), today), name
