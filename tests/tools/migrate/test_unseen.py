"""Names that today's TensorFlow has not, of a module that goes where nothing follows it."""

import ast
import sys

import pytest

from tests.tools.migrate import harness

_HEAD = "import tensorflow as tf\nimport collections, contextlib, functools, operator, sys, types\n"
_K = "from tensorflow.keras import backend as K\n"
#: {the way by which ``tf.keras.backend`` goes: lines, of which those with a # are told}.
WAYS = {
    "import_module": (
        "import importlib\nB = importlib.import_module('tensorflow.keras.backend')\n"
        "def f():\n    return B.get_session()  #\n"
    ),
    "import_module at once": (
        "from importlib import import_module\n"
        "import_module('tensorflow.keras').backend.get_session()  #\n"
    ),
    "__import__": "T = __import__('tensorflow')\ns = T.keras.backend.get_session  #\n",
    "importorskip": "import pytest\nT = pytest.importorskip('tensorflow')\n"
    "T.keras.backend.get_session()  #\n",
    "importorskip, as tf": "import pytest\ntf = pytest.importorskip('tensorflow')\n"
    "tf.keras.backend.get_session()  #\n",
    "a lazy loader": "B = LazyLoader('B', globals(), 'tensorflow.keras.backend')\n"
    "B.get_session()  #\n",
    "an estimator's module": "T = __import__('tensorflow')\nT.estimator.RunConfig()  #\n",
    "a class's own tf": "class A:\n    tf = tf\n    def f(self):\n"
    "        self.tf.keras.backend.get_session()  #\n",
    "two names for one": "A = B = tf.keras.backend\nA.get_session()  #\nB.get_session()  #\n"
    "tf.keras.backend.get_session()  #\nimport tensorflow as T\n"
    "T.keras.backend.get_session()  #\n",
    "one of two, uncalled": "if sys.argv:\n    from tensorflow.keras import backend as B\n"
    "else:\n    from keras import backend as B\nx = B.get_session  #\ny = B.set_session  #\n",
    "a loop, uncalled": "for B in (tf.keras.layers, tf.keras.backend):\n    x = B.CuDNNLSTM  #\n",
    "__dict__": "tf.keras.backend.__dict__['get_session']()  #\n",
    "vars": "vars(tf.keras.backend)['get_session']()  #\n",
    "getattr": "x = getattr(tf.keras.backend, 'get_session')  #\nx()  #\n",
    "getattr of an import": _K + "x = getattr(K, 'get_session')  #\n",
    "getattr of getattr": "getattr(getattr(tf.keras, 'backend'), 'get_session')()  #\n",
    "mock.patch": "from unittest import mock\n"
    "with mock.patch('tensorflow.keras.backend.get_session'):  #\n    pass\n",
    "mock.patch.object": "from unittest import mock\n"
    "with mock.patch.object(tf.keras.backend, 'get_session'):  #\n    pass\n",
    "eval": "eval('tf.keras.backend.get_session()')  #\n",
    "a type in a string": "def f(x: 'tf.estimator.RunConfig'):  #\n    pass\n",
}  # fmt: skip

#: {the way by which ``tf`` goes to a name of TensorFlow 1 in a file of 2: lines, as above}.
FIRST = {
    "a walrus": "if (T := tf):\n    T.Session()  #\n",
    "a walrus at once": "(T := tf).Session()  #\n",
    "a class's own": "class A:\n    tf = tf\n    def f(self):\n        self.tf.Session()  #\n",
    "a tuple": "a, b = tf, 3\na.global_variables_initializer()  #\n",
    "a loop": "for T in (tf,):\n    T.train.Saver(), T.placeholder(1)  #\n",
    "a keyword of another": "f(T=tf, Q=q)\nn.Q.Session(), T.Session(), n.T.function(f)\n",
    "names of both": "for T in (tf,):\n    T.function(f), T.Variable(1), T.io.gfile.exists(x)\n",
    "another object": "f(tf)\nimport requests\nrequests.Session(), db.Session()\n",
}

#: {what is no such name: lines}.
OTHERS = {
    "an object of the program": "class A:\n    def get_session(self):\n        return 1\n"
    "A().get_session(), self.f(tf.keras.backend)\n",
    "what nothing hands on": "B = tf.keras.backend\nB.floatx()\nmanager.get_session()\n",
    "words that many have": "f(tf.keras.backend, tf)\nx.function(1), x.estimator, x.experimental\n",
    "a part of another name": "f(tf.keras.layers)\nmanager.get_session()\n",
    "a string of another module": "import importlib\nimportlib.import_module('keras.backend')\n"
    "manager.get_session()\n",
    "what is asked for first": "s = getattr(tf.keras.backend, 'get_session', None)\n",
    "a module of another package": "import mesh as mtf\nf(tf)\nmtf.layers.Dense, mtf.get_session\n",
    "what is assigned to": "f(tf)\nlosses.get_session = tf.losses\n",
    "an import that is told": "def f():\n    from tensorflow.keras.models import Sequential\n"
    "g(tf)\n",
    "what only words hand on": "def f(x):\n    'Of tf, tf.keras.backend.'  # or tf\n"
    "    x.estimator.model_fn, x.get_session, x.estimator.RunConfig\n",
    "a string that is none": "names = ['get_session', 'keras.backend']\n",
}  # fmt: skip


def _left(folder, text):
    ast.parse(text)
    harness.put(folder, {"a.py": text})
    found = harness.results(folder, "latest").get("a.py")
    assert found is None or not found.refused
    return [] if found is None else found.left


@pytest.mark.parametrize("way", sorted(WAYS))
def test_what_nothing_follows_is_told(tmp_path, way):
    text = (_HEAD if "importorskip" not in way else "") + WAYS[way]
    told = {use.line for use in _left(tmp_path, text)}
    assert told == {number for number, line in enumerate(text.split("\n"), 1) if line[-1:] == "#"}


@pytest.mark.parametrize("way", sorted(FIRST))
def test_what_is_of_tensorflow_1_is_told_in_a_file_of_2(tmp_path, way):
    text = _HEAD + FIRST[way]
    if ":=" in text and sys.version_info < (3, 8):
        pytest.skip("Python 3.8 has it")
    told = {use.line for use in _left(tmp_path, text)}
    assert told == {number for number, line in enumerate(text.split("\n"), 1) if line[-1:] == "#"}


@pytest.mark.parametrize("what", sorted(OTHERS))
def test_what_is_something_else_is_not_told(tmp_path, what):
    assert _left(tmp_path, _HEAD + OTHERS[what]) == []


#: {lines: whether their last one is told}.
UNSEEN = {
    "def f(name):\n    return getattr(tf, name)\n": True,
    "for n in ('get_session', 'floatx'):\n    getattr(tf.keras.backend, n)()\n": True,
    _K + "getattr(K, 'get' + name)\n": True,
    "getattr(tf, name, None), hasattr(tf, name)\n": False,
    "getattr(tf, dtype), getattr(tf, 'float%d' % n), getattr(tf, x.dtype.name)\n": False,
    "getattr(tf.nn, name), getattr(tf.keras.layers, name), getattr(np, name)\n": False,
    "getattr(tf.compat.v1, name)\n": False,
}


@pytest.mark.parametrize("text", sorted(UNSEEN))
def test_a_name_that_only_the_run_knows_is_told(tmp_path, text):
    told = [use.line for use in _left(tmp_path, _HEAD + text)]
    assert told == [(_HEAD + text).count("\n")] * UNSEEN[text]


def test_what_a_class_of_another_file_keeps_is_told(tmp_path):
    base = "import tensorflow as tf\nclass Base:\n    B = tf.keras.backend\n"
    harness.put(tmp_path, {"a.py": "import b\nb.Base.B.get_session()\n", "b.py": base})
    assert [use.line for use in harness.results(tmp_path, "latest")["a.py"].left] == [2]


@pytest.mark.parametrize("asked", ["self.T.Session", "self.T.nn.relu"])
def test_an_attribute_of_that_name_of_another_class(tmp_path, asked):
    files = {"a.py": "class A:\n    def f(self):\n        return %s(1)\n" % asked}
    files["b.py"] = "import tensorflow as T0\nclass Base:\n    T = T0\n"
    harness.put(tmp_path, files)
    assert not any(
        each.before != each.after for each in harness.results(tmp_path, "latest").values()
    )
