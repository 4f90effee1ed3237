"""``--keras 2``: programs with names of Keras get the line that brings Keras 2 back."""

import os
import subprocess
import sys

import pytest

from tests.tools.migrate import harness
from tpudist import surfaces
from tpudist.surfaces import leads

LINES = 'import os\nos.environ["TF_USE_LEGACY_KERAS"] = "1"  # Keras 2: pip install tf_keras\n'
MODEL = """import numpy as np, tensorflow as tf
i = tf.keras.Input((3,))
o = tf.reduce_mean(tf.keras.layers.Dense(2, kernel_initializer="ones")(i), axis=1)
print(tf.keras.Model(i, o).predict(np.ones((1, 3)), verbose=0).tolist())
"""
LOSS = """import numpy as np, tensorflow as tf
i = tf.keras.Input((3,))
o = tf.keras.layers.Dense(1, kernel_initializer="ones")(i)
m = tf.keras.Model(i, o)
m.add_loss(tf.reduce_mean(tf.square(o)))
m.compile("sgd")
print("%.3f" % m.train_on_batch(np.ones((1, 3))))
"""
OPTIMIZER = """import numpy as np, tensorflow as tf
o = tf.keras.optimizers.Adam(0.1)
v = tf.Variable([1., 2.])
o.apply_gradients([(tf.ones(2), v)])
print(len(o.get_weights()), o.iterations.numpy(), "%.2f" % o.lr.numpy(), o.get_slot(v, "m").shape)
"""
IN_COMPILE = """import numpy as np
import tensorflow as tf
dense = tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(3,))
model = tf.keras.Sequential([dense])
model.compile(optimizer=tf.train.RMSPropOptimizer(0.1), loss="mse", metrics=["mae"])
h = model.fit(np.ones((8, 3)), np.zeros((8, 1)), epochs=2, verbose=0, shuffle=False)
print([round(float(v), 4) for v in h.history["loss"]])
"""
SESSION = """import numpy as np
import tensorflow as tf
tf.set_random_seed(5)
k = tf.keras.layers.Dense(400, kernel_initializer=tf.random_normal_initializer(seed=1))
k(tf.ones([1, 400]))
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    print(round(float(np.std(s.run(k.kernel))), 2))
"""
CELL = """import tensorflow as tf
tf.set_random_seed(1)
cell = tf.contrib.rnn.BasicLSTMCell(2)
out, _ = tf.nn.dynamic_rnn(cell, tf.zeros([1, 3, 2]), dtype=tf.float32)
out = tf.layers.dense(out, 1, kernel_initializer=tf.ones_initializer())
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print(session.run(out).ravel().tolist())
"""
ADD_VARIABLE = """import numpy as np
import tensorflow as tf
class L(tf.keras.layers.Layer):
    def build(self, input_shape):
        self.w = self.add_variable("w", shape=[int(input_shape[-1]), 1], initializer="ones")
    def call(self, x):
        return tf.matmul(x, self.w)
m = tf.keras.Sequential([L(input_shape=(3,))])
m.compile("sgd", "mse")
print(m.predict(np.ones((1, 3)), verbose=0).tolist())
"""
#: {a program: what it prints on the release that it was written for: 1.15 or 2.2}.
PRINT = {
    MODEL: "[3.0]",
    LOSS: "9.000",
    OPTIMIZER: "3 1 0.10 (2,)",
    IN_COMPILE: "[9.0, 3.4918]",
    SESSION: "1.0",
    CELL: "[0.0, 0.0, 0.0]",
    ADD_VARIABLE: "[[3.0]]",
}


def migrated(folder, files, **changes):
    """({path: new text}, {rules of uses that are left}), to latest with Keras 2."""
    return harness.migrated(folder, files, "latest", keras="2", **changes)


@pytest.mark.slow
@pytest.mark.parametrize("text", PRINT, ids=range(len(PRINT)))
def test_a_program_prints_the_same_numbers(tmp_path, text):
    pytest.importorskip("tensorflow", minversion="2.16")
    pytest.importorskip("tf_keras")
    texts, left = migrated(tmp_path, {"a.py": text})
    assert not left
    (tmp_path / "a.py").write_text(texts["a.py"], "utf-8")
    environment = {key: os.environ[key] for key in os.environ if "KERAS" not in key}
    command = [sys.executable, str(tmp_path / "a.py")]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.stdout.decode().strip() == PRINT[text], done.stderr.decode()[-2000:]


def test_the_line_stands_where_programs_start(tmp_path):
    files = {
        "train.py": '"""Trains."""\n\nfrom __future__ import print_function\nimport model\n',
        "model.py": "import tensorflow as tf\nmodel = tf.keras.Sequential()\n",
        "other.py": "import tensorflow as tf\nprint(tf.ones([1]))\n",
    }
    texts, _ = migrated(tmp_path, files)
    expected = {
        **files,
        "train.py": files["train.py"].replace("import model", LINES + "import model"),
    }
    assert texts == expected
    again, _ = migrated(tmp_path, texts)
    assert again == texts


@pytest.mark.parametrize(
    "text",
    [
        "import os, tensorflow as tf\nos.environ['TF_USE_LEGACY_KERAS'] = '0'\ntf.keras.Input(3)\n",
        "import tensorflow as tf\nprint(tf.ones([1]))\n",
        "import numpy as np\nkeras = 3\n",
    ],
)
def test_a_program_without_need_of_it_gets_none(tmp_path, text):
    assert migrated(tmp_path, {"a.py": text})[0]["a.py"] == text


@pytest.mark.parametrize(("to", "keras"), [("2.0", "2"), ("2.2", "2"), ("latest", "3")])
def test_other_targets_get_none(tmp_path, to, keras):
    texts, _ = harness.migrated(tmp_path, {"a.py": MODEL}, to, keras=keras)
    assert texts["a.py"] == MODEL


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("tf.nn.rnn_cell.LSTMCell(2), tf.placeholder('float')", False),
        ("tf.layers.dense(x, 3)", False),
        ("model.fit_generator(data), model.save('x')", False),
        ("tf.keras.utils.multi_gpu_model(model, 2)", True),
        ("model.predict_classes(x)", True),
    ],
)
def test_what_keras_2_has_is_not_told(tmp_path, text, left):
    text = "import tensorflow as tf\nmodel = tf.keras.Sequential()\n%s\n" % text
    assert bool(migrated(tmp_path, {"a.py": text})[1]) == left


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "tf.keras.optimizers.SGD(0.1, decay=0.1)",
            "tf.keras.optimizers.legacy.SGD(0.1, decay=0.1)",
        ),
        ("o = tf.keras.optimizers.SGD(0.1)", ""),
        ("o = tf.keras.optimizers.SGD(0.1)\nlayer.get_weights()", ""),
        (
            "class A(tf.keras.optimizers.Optimizer):\n    def _resource_apply_dense(self): pass",
            "class A(tf.keras.optimizers.legacy.Optimizer):\n"
            "    def _resource_apply_dense(self): pass",
        ),
        ("class A(tf.keras.optimizers.Optimizer):\n    def update_step(self): pass", ""),
    ],
)
def test_an_optimizer_of_before_2_11_is_the_legacy_one(tmp_path, before, after):
    texts, _ = migrated(tmp_path, {"a.py": "import tensorflow as tf\n%s\n" % before})
    assert texts["a.py"] == LINES + "import tensorflow as tf\n%s\n" % (after or before)


_ASKS = """
import json, sys
import tensorflow as tf
def has(root, dotted):
    for word in dotted.split("."):
        try:
            root = getattr(root, word)
        except Exception:
            return False
    return True
names = json.load(sys.stdin)
there = [{n for n in names if has(root, n)} for root in (tf, tf.compat.v1)]
inputs = tf.keras.Input((2,))
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizers = tf.keras.optimizers.Adam(), tf.keras.optimizers.legacy.Adam()
print(json.dumps([*map(sorted, there), dir(model), *map(dir, optimizers)]))
"""


@pytest.mark.slow
def test_the_table_says_what_keras_2_has():
    import json

    pytest.importorskip("tensorflow", minversion="2.21")
    pytest.importorskip("tf_keras")
    every = {**leads.gone_names(), **surfaces.RENAMED_TODAY, **surfaces.KERAS_REFUSES}
    names = [name for name in every if not name.startswith("python.")]
    done = subprocess.run(
        [sys.executable, "-c", _ASKS],
        input=json.dumps(names).encode(),
        env={**os.environ, "TF_USE_LEGACY_KERAS": "1"},
        capture_output=True,
        check=True,
    )
    second, first, model, optimizer, legacy = map(set, json.loads(done.stdout))
    assert [n for n in names if leads.keras_2_has(n, False) != (n in second)] == []
    is_first = {n for n in names if leads.keras_2_has(n, True)} | surfaces.KEPT_IN_V1
    assert is_first.intersection(names) - second == first.intersection(names) - second
    names = {name for kind, name in surfaces.KERAS_MEMBERS if kind in ("model", "layer")}
    assert surfaces.KERAS_2_MEMBERS - {"to_yaml"} == names - model - {"to_yaml"}
    assert legacy - optimizer >= surfaces.KERAS_2_OPTIMIZER


ON_ROWS = "e = tf.keras.layers.Embedding(2, 3)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("K.Adam(lr=0.1)", "K.Adam(learning_rate=0.1)"),
        ("K.RMSprop(lr=0.1)", "K.legacy.RMSprop(learning_rate=0.1)"),
        (ON_ROWS + "K.SGD(0.1, momentum=0.9)", ON_ROWS + "K.legacy.SGD(0.1, momentum=0.9)"),
        ("K.SGD(0.1, momentum=0.9)", ""),
        (ON_ROWS + "K.Ftrl()", ON_ROWS + "K.legacy.Ftrl()"),
        ("K.Nadam()", "K.legacy.Nadam()"),
        ("model.compile('rmsprop')", "model.compile(tf.keras.optimizers.legacy.RMSprop())"),
        ("model.compile('adam')", ""),
        ("model.fit(x, [0, 1])", "model.fit(x, tf.constant([0, 1]))"),
        ("model.fit([0.5], [0]), model.fit(x, y, workers=0, w=[1])", ""),
        ("model.fit_generator(g, workers=0)", "model.fit_generator(g, workers=1)"),
    ],
)
def test_an_optimizer_computes_what_it_did(tmp_path, before, after):
    start = "import tensorflow as tf\nmodel = tf.keras.Sequential()\n"
    texts, left = migrated(
        tmp_path, {"a.py": start + before.replace("K.", "tf.keras.optimizers.") + "\n"}
    )
    expected = (after or before).replace("K.", "tf.keras.optimizers.")
    assert texts["a.py"] == LINES + start + expected + "\n" and not left


def test_an_optimizer_that_is_imported_by_its_name_is_the_legacy_one(tmp_path):
    text = "from tensorflow.keras.optimizers import RMSprop\nRMSprop(0.1)\n"
    texts, _ = migrated(tmp_path, {"a.py": text})
    assert "tf.keras.optimizers.legacy.RMSprop(0.1)" in texts["a.py"]
    assert "import tensorflow as tf" in texts["a.py"]
