"""Names of TensorFlow are followed through variables and imports, and told where they are used."""

import pytest

from tests.tools.migrate import harness

_TF = "import tensorflow as tf\n"
#: {the way by which ``tf.contrib.layers`` reaches ``bow_encoder``: files}.
PROGRAMS = {
    "a variable": {"a.py": "x = tf.contrib.layers\nx.bow_encoder(1)\n"},
    "two variables": {"a.py": "x = tf.contrib\ny = x.layers\ny.bow_encoder(1)\n"},
    "one of two": {"a.py": "x = tf.contrib.layers if tf else None\nx.bow_encoder(1)\n"},
    "a class's own": {
        "a.py": "class A:\n    if 1:\n        x = tf.contrib.layers\n",
        "b.py": "import a\na.A.x.bow_encoder(1)\n",
    },
    "a default": {
        "a.py": "def f(y, x=tf.contrib.layers):\n"
        "    x.bow_encoder(1)\nf(1, x=tf.contrib.layers)\n"
    },
    "beside a function of a dict's word": {
        "a.py": "from c import values\nx = tf.contrib.layers\nx.bow_encoder(list(values()))\n"
    },
    "a module that an import goes on to": {
        "p/a.py": "x = tf.contrib.layers\n",
        "b.py": "from p.a import \\\n    x\nx.bow_encoder(1)\n",
    },
    "a tuple": {"a.py": "a, x = 1, tf.contrib.layers\nx.bow_encoder(1)\n"},
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
    "beside a keyword of what a dict has": {
        "a.py": "d = {'a': len}\nd['a'](x=tf.contrib.layers)\nx = tf.contrib.layers\n"
        "x.bow_encoder(1)\n"
    },
}  # fmt: skip


_FIRST = "import tensorflow as tf\ndef other(x):\n    return tf.nn.relu(x)\n"
_LATE = ("a file without a legacy name",)


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
        "K = getattr(tf.keras, 'backend')\nK.get_session()\n",
        "def f(K=tf.keras.backend):\n    return K.get_session()\n",
    ],
)
def test_a_gone_name_is_told_by_whichever_way_its_module_comes(tmp_path, text):
    harness.put(tmp_path, {"a.py": _TF + text})
    (use,) = harness.results(tmp_path, "latest")["a.py"].left
    assert use.rule in ("gone-names", "indirect-names") and "get_session" in use.seen
