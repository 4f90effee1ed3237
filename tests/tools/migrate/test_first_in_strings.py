"""Names that only TensorFlow 1 has, asked for by a string."""

import pytest

from tests.tools.migrate import harness

_HEAD = "import tensorflow as tf\n"
_OF_2 = _HEAD + "tf.random.set_seed(1)\n"
#: Lines that are right once ``tf`` is that of TensorFlow 1.
ASKING = [
    "getattr(tf, 'Session')\n",
    "getattr(tf, 'Session')()\n",
    "getattr(tf.train, 'AdamOptimizer')(0.1)\n",
    "vars(tf)['Session']()\n",
    "tf.__dict__['Session']()\n",
]
#: Lines that ask first whether there is such a name, or name none.
OTHERS = [
    "getattr(tf, 'Session', None)\n",
    "hasattr(tf, 'Session')\n",
    "tf.__dict__.get('Session', None)\n",
    "getattr(tf, 'function')\n",
    "getattr(tf.compat.v1, 'Session')()\n",
    "getattr(np, 'Session'), vars(x)['Session'], x.__dict__['Session']\n",
]

#: TensorFlow itself, imported by a string; lines that end with # are told.
BY_STRING = [
    "import importlib\nimportlib.import_module('tensorflow').train.Saver  #\n",
    "from importlib import import_module\nT = import_module('tensorflow')\nT.Session()  #\n",
    "__import__('tensorflow').Session  #\n",
    "from importlib import import_module as load, import_module\n"
    "getattr(import_module('tensorflow'), 'Session')()  #\n",
    "T = __import__('tensorflow')\ngetattr(T, 'Session')()  #\n",
    "T = __import__('tensorflow')\nT.contrib.layers.conv2d(1)  #\nT.gfile.Open  #\n"
    "getattr(T, 'contrib').slim  #\ngetattr(T.contrib, 'slim')  #\nx = T.contrib  #\n",
    "T = __import__('tensorflow')\ngetattr(T, 'estimator').RunConfig()  #\n",
    "T = __import__('tensorflow')\ngetattr(T.estimator, 'RunConfig')()  #\n",
    "T = __import__('tensorflow')\nvars(T.estimator)['RunConfig']()  #\n",
    "T = __import__('tensorflow')\ngetattr(T.keras.backend, 'get_session')()  #\n",
    "T = __import__('tensorflow')\ngetattr(T, 'Session', None), getattr(T, 'function')\n",
    "T: object = __import__('tensorflow')\nT.Session()  #\n",
    "T = LazyLoader('T', globals(), 'tensorflow')\nT.Session()  #\n",
    "__import__('tensorflow').function(f), __import__('tensorflow').compat.v1.Session()\n",
    "import importlib\nimportlib.import_module('tensorflow.' + 'contrib.' + 'slim')  #\n"
    "importlib.import_module('tensorflow.' + 'keras.layers')\n",
    "import importlib\nimportlib.import_module('tensorflow.' + x)  #\n",
    "__import__('tensorflow.%s' % x)  #\n__import__(f'tensorflow.{x}')  #\n",
    "__import__('tensorflow.python.{}'.format(x))  #\n"
    "__import__('tensorflow.' + 'python.' + x)  #\n",
    "__import__('tensorflow.keras.applications.' + x), __import__('tensorflow_' + x)\n"
    "load('tensorflow.' + x)\n"
    "__import__(x), __import__(x + y), __import__(x.format(y)), __import__(f'{x}')\n",
    "__import__('requests').Session(), sys.modules['requests'].Session()\n",
]


def _result(folder, text):
    harness.put(folder, {"a.py": text})
    return harness.results(folder, "latest").get("a.py")


@pytest.mark.parametrize("line", ASKING)
def test_tensorflow_becomes_that_of_1(tmp_path, line):
    found = _result(tmp_path, _HEAD + line)
    after = found.after.decode()
    assert after.startswith("import tensorflow.compat.v1 as tf\n") and after.endswith(line)
    assert ("disable_v2_behavior" in after) == line.endswith("()\n")


@pytest.mark.parametrize("line", ASKING)
def test_what_stays_that_of_2_is_told(tmp_path, line):
    assert [use.line for use in _result(tmp_path, _OF_2 + line).left] == [3]


@pytest.mark.parametrize("line", OTHERS)
@pytest.mark.parametrize("head", [_HEAD, _OF_2])
def test_what_is_asked_first_is_not_told(tmp_path, line, head):
    found = _result(tmp_path, head + line)
    assert found is None or (found.before == found.after and not found.left)


@pytest.mark.parametrize("text", BY_STRING)
def test_a_module_by_a_string_is_told(tmp_path, text):
    found = _result(tmp_path, text)
    uses = [*found.left, *found.rewritten] if found else []
    told = {use.line for use in uses if use in found.left or use.rule != "imports"}
    lines = enumerate(text.split("\n"), 1)
    assert told == {number for number, line in lines if line[-1:] == "#"}
