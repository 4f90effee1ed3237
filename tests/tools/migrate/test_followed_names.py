"""Names of TensorFlow are followed wherever a program has them go, and told where they are used."""

import pytest

from tests.tools.migrate import harness

_TF = "import tensorflow as tf\n"
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
    "a strategy's callback": {
        "a.py": "s = tf.contrib.distribute.MirroredStrategy()\ndef f(x):\n    x.bow_encoder(1)\n"
        "s.call_for_each_tower(f, tf.contrib.layers)\n",
    },
    "an import in a function": {
        "a.py": "def f():\n    from tensorflow.contrib import layers\n    return layers\n",
        "b.py": "import a\nx = a.f()\ndef g():\n    return x.bow_encoder(1)\n",
    },
}  # fmt: skip


_FIRST = "import tensorflow as tf\ndef other(x):\n    return tf.nn.relu(x)\n"
_LATE = "a file without a legacy name", "a file that hands it on to one"


@pytest.mark.parametrize("way", sorted(PROGRAMS))
def test_what_is_handed_on_is_told_where_it_is_used(tmp_path, way):
    files = {
        name: (_FIRST if "tf" in text or way not in _LATE else "") + text
        for name, text in PROGRAMS[way].items()
    }
    harness.put(tmp_path, files)
    told = {
        (name, use.line)
        for name, result in harness.results(tmp_path, "latest").items()
        for use in result.left
        if use.rule == "gone-contrib" and use.seen.endswith(".bow_encoder")
    }
    assert told == {
        (name, number)
        for name, text in files.items()
        for number, line in enumerate(text.split("\n"), 1)
        if ".bow_encoder(" in line
    }


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
