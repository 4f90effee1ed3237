"""Names of TensorFlow that are handed on are followed; what cannot be one is not asked about."""

import libcst
import pytest

from tests.tools.migrate import harness
from tpudist.tools.migrate import carriers, survey
from tpudist.tools.migrate.resolution import codebase, module, parameters

_TF = "import tensorflow as tf\n"
_STRATEGY = _TF + "strategy = tf.contrib.distribute.MirroredStrategy()\n"
#: {the way by which ``tf.contrib.layers`` reaches ``bow_encoder``: files}.
PROGRAMS = {
    "a variable": {"a.py": "x = tf.contrib.layers\nx.bow_encoder(1)\n"},
    "two variables": {"a.py": "x = tf.contrib\ny = x.layers\ny.bow_encoder(1)\n"},
    "one of two": {"a.py": "x = tf.contrib.layers if tf else None\nx.bow_encoder(1)\n"},
    "an attribute": {
        "a.py": "class A:\n    def __init__(self):\n        self.x = tf.contrib.layers\n",
        "b.py": "from a import A\ndef f():\n    A().x.bow_encoder(1)\n",
    },
    "a class's own": {
        "a.py": "class A:\n    if 1:\n        x = tf.contrib.layers\n",
        "b.py": "import a\na.A.x.bow_encoder(1)\n",
    },
    "a keyword": {
        "a.py": "from b import f\nf(x=tf.contrib.layers)\n",
        "b.py": "def f(x):\n    x.bow_encoder(1)\n",
    },
    "a place": {
        "a.py": "from b import f\nf(0, tf.contrib.layers)\n",
        "b.py": "def f(a, x):\n    x.bow_encoder(1)\n",
    },
    "a method's place": {
        "a.py": "from b import B\nB().f(tf.contrib.layers)\n",
        "b.py": "class B:\n    def f(this, x):\n        x.bow_encoder(1)\n",
    },
    "a class": {
        "a.py": "from b import B\nB(tf.contrib.layers)\n",
        "b.py": "class B:\n    def __init__(self, x):\n        x.bow_encoder(1)\n",
    },
    "a place after defaults": {
        "a.py": "from b import f\nf([], tf.contrib.layers)\n",
        "b.py": "def f(a=[1, 2], x=None):\n    x.bow_encoder(1)\n",
    },
    "a place after a call": {
        "a.py": "from b import f\nf([], tf.contrib.layers)\n",
        "b.py": "def f(a=len(''), x=None):\n    x.bow_encoder(1)\n",
    },
    "a default": {
        "a.py": "def f(y, x=tf.contrib.layers):\n"
        "    x.bow_encoder(1)\nf(1, x=tf.contrib.layers)\n"
    },
    "a result": {
        "a.py": "def f():\n    return tf.contrib.layers\n",
        "b.py": "from a import f\nf().bow_encoder(1)\nx = f()\nx.bow_encoder(2)\n",
    },
    "beside a function of a dict's word": {
        "a.py": "from c import values\nx = tf.contrib.layers\nx.bow_encoder(list(values()))\n"
    },
    "a property": {
        "a.py": "class A:\n    @property\n    def x(self):\n        return tf.contrib.layers\n",
        "b.py": "from a import A\nA().x.bow_encoder(1)\n",
    },
    "a lambda": {"a.py": "f = lambda: tf.contrib.layers\nf().bow_encoder(1)\n"},
    "a result of a result": {
        "a.py": "def f():\n    def g():\n        return tf.contrib.layers\n    return g\n",
        "b.py": "from a import f\ng = f()\nx = g()\nx.bow_encoder(1)\n",
    },
    "a function in a dict": {
        "a.py": "def f():\n    return tf.contrib.layers\nd = {'a': f}\n"
        "x = d['a']()\nx.bow_encoder(1)\nd['a']().bow_encoder(2)\n"
    },
    "a function that is handed on": {
        "a.py": "from b import f\nf(lambda: tf.contrib.layers)\n",
        "b.py": "def f(get):\n    x = get()\n    x.bow_encoder(1)\n",
    },
    "a property that gives a function": {
        "a.py": "class A:\n    @property\n    def x(self):\n"
        "        return lambda: tf.contrib.layers\n",
        "b.py": "from a import A\ny = A().x()\ny.bow_encoder(1)\n",
    },
    "a module that an import goes on to": {
        "p/a.py": "x = tf.contrib.layers\n",
        "b.py": "from p.a import \\\n    x\nx.bow_encoder(1)\n",
    },
    "a tuple": {"a.py": "a, x = 1, tf.contrib.layers\nx.bow_encoder(1)\n"},
    "a dict": {"a.py": "d = {'a': tf.contrib.layers}\nd['a'].bow_encoder(1)\n"},
    "a list that grows": {
        "a.py": "d = []\nd.append(tf.contrib.layers)\nfor x in d:\n  x.bow_encoder(1)\n"
    },
    "a loop": {"a.py": "for i, x in enumerate([tf.contrib.layers]):\n    x.bow_encoder(1)\n"},
    "a comprehension": {"a.py": "[x.bow_encoder(1) for x in (tf.contrib.layers,)]\n"},
    "getattr": {"a.py": "getattr(tf.contrib, 'layers').bow_encoder(1)\n"},
    "getattr, kept": {"a.py": "x = getattr(tf, 'contrib')\nx.layers.bow_encoder(1)\n"},
    "an import": {
        "a.py": "from tensorflow.contrib import layers as x\n",
        "b.py": "from a import x\nx.bow_encoder(1)\n",
    },
    "an import under another name": {
        "a.py": "x = tf.contrib.layers\n",
        "b.py": "from a import x as y\ny.bow_encoder(1)\n",
    },
    "a star": {
        "a.py": "x = tf.contrib.layers\n",
        "b.py": "from a import *\n",
        "c.py": "from b import x\nx.bow_encoder(1)\n",
    },
    "a star of TensorFlow": {
        "a.py": "from tensorflow import *\n",
        "b.py": "from a import *\ncontrib.layers.bow_encoder(1)\n",
    },
    "what is above both generations": {
        "a.py": "from tensorflow import compat as x\n",
        "b.py": "import a\nx = a.x\nx.v1.contrib.layers.bow_encoder(1)\n",
    },
    "a module": {"a.py": "x = tf.contrib.layers\n", "b.py": "import a\na.x.bow_encoder(1)\n"},
    "a package": {
        "p/a.py": "x = tf.contrib.layers\n",
        "p/__init__.py": "from .a import x\n",
        "b.py": "import p\np.x.bow_encoder(1)\n",
    },
    "a global": {"a.py": "def f():\n    global x\n    x = tf.contrib\nx.layers.bow_encoder(1)\n"},
    "TensorFlow under another name": {
        "a.py": "import tensorflow as K\n",
        "b.py": "from a import K\nK.contrib.layers.bow_encoder(1)\n",
    },
    "a file without a legacy name": {
        "a.py": "K = tf\n",
        "b.py": "from a import K\nK.contrib.layers.bow_encoder(1)\n",
    },
    "a file that hands it on to one": {
        "a.py": "import b\nb.f(tf)\n",
        "b.py": "import c\ndef f(K):\n    c.g(T=K)\n",
        "c.py": "def g(T):\n    T.contrib.layers.bow_encoder(1)\n",
    },
    "a function of a module": {
        "a.py": "def x():\n    return tf.contrib.layers\n",
        "b.py": "import a\ndef f(x):\n    a.x().bow_encoder(x.size)\ny = a.x()\ny.bow_encoder(1)\n",
    },
    "a function under another name": {
        "a.py": "def f():\n    return tf.contrib.layers\n",
        "b.py": "from a import f as g\ng().bow_encoder(1)\n",
    },
    "a function of a package": {
        "p/a.py": "def f():\n    return tf.contrib.layers\n",
        "p/__init__.py": "from .a import f\n",
        "b.py": "import p\np.f().bow_encoder(1)\n",
    },
    "a function that gives what another's does": {
        "a.py": "def f():\n    return tf.contrib.layers\n",
        "b.py": "import a\ndef g():\n    return a.f()\n",
        "c.py": "import b\nb.g().bow_encoder(1)\n",
    },
    "a method's result": {
        "a.py": "class A:\n    def f(self):\n        return tf.contrib.layers\n",
        "b.py": "from a import A\nA().f().bow_encoder(1)\n",
    },
    "the second class of a file": {
        "a.py": "from b import B\nB(1, y=tf.contrib.layers)\n",
        "b.py": "class A:\n    def __init__(self, x):\n        x.size\nclass B:\n"
        "    def __init__(self, x, y):\n        self.y = y\n    def f(self):\n"
        "        self.y.bow_encoder(1)\n",
    },
    "beside a keyword of what a dict has": {
        "a.py": "d = {'a': len}\nd['a'](x=tf.contrib.layers)\nx = tf.contrib.layers\n"
        "x.bow_encoder(1)\n"
    },
    "an item of an attribute": {
        "a.py": "class A:\n    def __init__(self):\n        self.d = {}\n"
        "        self.d['a'] = tf.contrib.layers\n    def f(self):\n"
        "        for k, v in self.d.items():\n            v.bow_encoder(1)\n"
        "x = tf.contrib.layers\nx.bow_encoder(2)\n"
    },
    "a strategy's callback": {
        "a.py": "s = tf.contrib.distribute.MirroredStrategy()\ndef f(x):\n    x.bow_encoder(1)\n"
        "s.call_for_each_tower(f, tf.contrib.layers)\n",
    },
}  # fmt: skip


def _results(folder, way):
    """The Results of a program: one whose files have a strategy are read whole."""
    bare = "a file without a legacy name", "a file that hands it on to one"
    head = _TF if way in bare else _STRATEGY
    texts = PROGRAMS[way].items()
    harness.put(
        folder,
        {name: (head if "tf" in text or way not in bare else "") + text for name, text in texts},
    )
    return harness.results(folder, "latest")


@pytest.mark.parametrize("way", sorted(PROGRAMS))
def test_what_is_handed_on_is_followed_as_if_all_were_asked(tmp_path, monkeypatch, way):
    found = _results(tmp_path, way)
    monkeypatch.setattr(carriers.Carriers, "may_hold", lambda *_: True)
    assert found == harness.results(tmp_path, "latest")
    told = [use.seen for each in found.values() for use in each.left + each.rewritten]
    assert any("bow_encoder" in seen for seen in told)


def test_what_no_name_of_tensorflow_reaches_has_no_other_file_read(tmp_path, monkeypatch):
    read, before = [], module.Module.__init__

    def init(self, path, *args, **options):
        read.append(path)
        before(self, path, *args, **options)

    monkeypatch.setattr(module.Module, "__init__", init)
    harness.put(
        tmp_path,
        {
            "a.py": _TF + "def f(config):\n    return tf.contrib.layers.conv2d(config.size)\n",
            "b.py": "from a import f\nclass Config:\n    size = 1\nf(Config())\n",
        },
    )
    harness.results(tmp_path, "latest")
    assert {path.rpartition("/")[2] for path in read} == {"a.py"}


@pytest.mark.parametrize(
    "files, words",
    [
        (  # what a name of TensorFlow returns is none
            {
                "a.py": "from tensorflow.contrib.layers import bow_encoder as f\n"
                "def encoded(config, model=f):\n    net = model(config)\n    return net\n",
                "b.py": "from a import encoded\nclass A:\n    x = encoded(1, model=2)\n",
            },
            {"model", "f"},
        ),
        (  # a word of an import's path is no attribute
            {
                "a.py": "from tensorflow.contrib.layers import bow_encoder as utils\n",
                "b.py": "import a\nfrom b.utils import c\nx = c.utils_of(a)\n",
            },
            {"utils"},
        ),
        ({"a.py": _TF + "x = tf.contrib.layers\ny = values()\n"}, {"x"}),
    ],
)
def test_only_what_may_be_a_name_of_tensorflow_stands_for_one(tmp_path, files, words):
    harness.put(tmp_path, files)
    found = survey.Survey(codebase.CodeBase([str(tmp_path)])).carriers
    asked = set("model f net encoded x y c utils utils_of config".split())
    assert not found.unknown
    assert words == {
        word
        for path in files
        for word in asked
        if found.may_hold(str(tmp_path / path), libcst.Name(word))
    }
    assert not found.may_hold(str(tmp_path / "b.py"), libcst.Name("utils"))


@pytest.mark.parametrize("name, asked", [("get_shape", False), ("bow_encoder", True)])
def test_a_parameter_is_followed_where_contrib_may_have_the_name(
    tmp_path, monkeypatch, name, asked
):
    followed, before = [], parameters.values

    def values(evaluator, module, param):
        followed.append(param.name.value)
        return before(evaluator, module, param)

    monkeypatch.setattr(parameters, "values", values)
    text = _STRATEGY + "def f(x):\n    return x.%s()\nf(tf.contrib.layers)\n" % name
    harness.put(tmp_path, {"a.py": text})
    harness.results(tmp_path, "latest")
    assert ("x" in followed) == asked


def test_all_kinds_of_ways_in_one_code_base(tmp_path, monkeypatch):
    files = {
        "%s/%s" % (way.replace(" ", "_"), name): _STRATEGY + text
        for way, program in PROGRAMS.items()
        for name, text in program.items()
    }
    harness.put(tmp_path, files)
    found = harness.results(tmp_path, "latest")
    monkeypatch.setattr(carriers.Carriers, "may_hold", lambda *_: True)
    assert found == harness.results(tmp_path, "latest")


@pytest.mark.parametrize(
    "text",
    [
        "for K in (tf.keras.backend,):\n    K.get_session()\n",
        "[K.get_session() for K in [tf.keras.backend]]\n",
        "lazy = lambda: tf.keras.backend\nlazy().get_session()\n",
        "def lazy():\n    return tf.keras.backend\nlazy().get_session()\n",
        "d = {'a': tf.keras.backend}\nd['a'].get_session()\n",
        "K = getattr(tf.keras, 'backend')\nK.get_session()\n",
        "class A:\n    def __init__(self, K):\n        self.K = K\n    def f(self):\n"
        "        self.K.get_session()\nA(tf.keras.backend)\n",
        "def f(K=tf.keras.backend):\n    return K.get_session()\n",
    ],
)
def test_a_gone_name_is_told_by_whichever_way_its_module_comes(tmp_path, text):
    harness.put(tmp_path, {"a.py": _TF + text})
    (use,) = harness.results(tmp_path, "latest")["a.py"].left
    assert use.rule == "gone-names" and "get_session" in use.seen
