"""Names that left modules of TensorFlow's own code: told, with what there is today."""

import importlib
import types

import pytest

from compat.make.first_generation import is_there
from tests.tools.migrate import harness
from tpudist.surfaces import leads

NAMES = leads.private_names()
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


def test_today_the_modules_are_there_without_them():
    pytest.importorskip("tensorflow", minversion="2.21")
    assert [name for name in NAMES if _is_tensorflows(*name.rpartition("."))] == []


def _is_tensorflows(module, _, last):
    """Whether a module has a name, and not from tensorflow_probability, which adds one."""
    missing = types.SimpleNamespace(__module__="")
    found = getattr(importlib.import_module("tensorflow." + module), last, missing)
    return getattr(found, "__module__", "tensorflow.").startswith("tensorflow.")


def test_what_is_to_be_typed_instead_is_there_today():
    tf = pytest.importorskip("tensorflow", minversion="2.21")
    for name, instead in NAMES.items():
        if instead.startswith("tf."):
            assert is_there(tf, instead[len("tf.") :]), name
        elif instead.startswith("tensorflow."):
            home, _, today = instead.partition(",")[0].rpartition(".")
            assert hasattr(importlib.import_module(home), today), name


#: Lines of a file; those that end with # are told.
ATTRIBUTES = """import tensorflow as tf
import tensorflow
import tensorflow.python.framework.ops
from tensorflow.python.ops import array_ops
from tensorflow.core.framework import node_def_pb2
x = tf.python.ops.array_ops.concat([1], 0)  #
def f():
    y = tf.python.ops.array_ops.concat([1], 0)  #
    return tf.core.framework.node_def_pb2.NodeDef()  #
tensorflow.python.framework.ops.convert_to_tensor(1)  #
tf.python.keras.layers.Dense(3)  #
tf.python.framework.ops.Tensor  #
array_ops.concat([1], 0), node_def_pb2.NodeDef(), self.python.ops, python.core.x
"""


def test_own_modules_as_attributes_are_told(tmp_path):
    harness.put(tmp_path, {"a.py": ATTRIBUTES})
    left = harness.results(tmp_path, "latest")["a.py"].left
    lines = enumerate(ATTRIBUTES.split("\n"), 1)
    assert {use.line for use in left} == {number for number, line in lines if line[-1:] == "#"}


def test_no_tensorflow_of_today_has_its_own_modules_as_attributes():
    tf = pytest.importorskip("tensorflow", minversion="2.5")
    importlib.import_module("tensorflow.python.framework.ops")
    assert not hasattr(tf, "python") and not hasattr(tf, "core")
