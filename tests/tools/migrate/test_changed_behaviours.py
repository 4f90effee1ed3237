"""Defaults and behaviours that changed: rewritten where the old one can be written, else told."""

import json
import os
import subprocess
import sys

import pytest

from tests.tools.migrate import harness
from tpudist import surfaces

TF = "import tensorflow as tf\n"
LSTM = (
    TF
    + """import numpy as np
from tensorflow.keras.layers import LSTM
tf.logging.set_verbosity(tf.logging.ERROR)
x = np.arange(24, dtype="float32").reshape(2, 4, 3) / 10
ones = dict(kernel_initializer="ones", recurrent_initializer="ones")
model = tf.keras.Sequential([LSTM(2, input_shape=(4, 3), **ones)])
print(np.round(model.predict(x), 5).tolist())
"""
)
FROZEN = (
    TF
    + """import numpy as np
tf.logging.set_verbosity(tf.logging.ERROR)
x = np.arange(12, dtype="float32").reshape(4, 3)
norm = tf.keras.layers.BatchNormalization(input_shape=(3,))
model = tf.keras.Sequential([norm, tf.keras.layers.Dense(1, kernel_initializer="ones")])
model.layers[0].trainable = False
model.compile("sgd", "mse")
print("loss %.4f" % model.train_on_batch(x, np.zeros((4, 1))))
"""
)
SHAPE = (
    TF
    + """m = tf.reduce_sum(tf.constant([[1., 2.], [3., 5.]]), axis=[1], keep_dims=True)
print(m.shape.as_list(), m.get_shape()[0].value, [each.value for each in m.shape])
"""
)


def told(folder, text, to="latest", **changes):
    """(new text, [(line, key), ...]) of a file."""
    texts, left = harness.outcome(folder, {"a.py": text}, to, **changes)
    return texts["a.py"], [(use.line, use.rule) for use in left]


#: {a program of 1.15: what it prints there}.
PRINT = {
    FROZEN: "loss 8.9992",
    SHAPE: "[2, 1] 2 [2, 1]",
    LSTM.replace("**ones", "kernel_initializer='ones', recurrent_initializer='ones'"): "[[0.99319, "
    "0.99319], [0.99933, 0.99933]]",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", PRINT, ids=range(len(PRINT)))
def test_a_program_prints_the_same_numbers(tmp_path, text):
    pytest.importorskip("tensorflow", minversion="2.16")
    pytest.importorskip("tf_keras")
    new, left = told(tmp_path, text, keras="2")
    assert not left
    (tmp_path / "a.py").write_text(new, "utf-8")
    environment = {key: os.environ[key] for key in os.environ if "KERAS" not in key}
    command = [sys.executable, str(tmp_path / "a.py")]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    printed = done.stdout.decode().strip().splitlines()[-1:]
    if PRINT[text].startswith("[[0."):
        assert [[round(x, 5) for x in row] for row in json.loads(printed[0])] == json.loads(
            PRINT[text]
        )
    else:
        assert printed == [PRINT[text]], done.stderr.decode()[-2000:]


@pytest.mark.parametrize(
    ("call", "new"),
    [
        ("LSTM(2)", 'LSTM(2, recurrent_activation="hard_sigmoid")'),
        ("GRU(2)", 'GRU(2, recurrent_activation="hard_sigmoid", reset_after=False)'),
        ("GRU(2, 'tanh', 'sigmoid')", "GRU(2, 'tanh', 'sigmoid', reset_after=False)"),
        ("GRU(2, reset_after=True, recurrent_activation='relu')", ""),
        ("LSTM(2, recurrent_activation='sigmoid')", ""),
        ("Dense(2)", ""),
    ],
)
def test_an_old_default_is_written_out_in_a_file_of_tensorflow_1(tmp_path, call, new):
    text = TF + "x = tf.placeholder('float')\ntf.keras.layers.%s\n"
    found, left = told(tmp_path, text % call, keras="2")
    assert found.splitlines()[-1] == "tf.keras.layers." + (new or call) and not left


def test_with_keras_3_the_old_gates_are_told(tmp_path):
    _, left = told(tmp_path, TF + "x = tf.placeholder('float')\ntf.keras.layers.LSTM(2)\n")
    assert (3, "changed-defaults") in left


@pytest.mark.parametrize("to", ["2.0", "2.2", "latest"])
@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("tf.keras.layers.LSTM(2)", "changed-defaults"),
        (
            "layer = tf.keras.layers.BatchNormalization(); layer.trainable = False",
            "frozen-batch-norm",
        ),
    ],
)
def test_a_file_that_does_not_show_its_tensorflow_is_told(tmp_path, line, key, to):
    text = TF + line + "\n"
    assert told(tmp_path, text, to) == (text, [(2, key)])
    assert told(tmp_path, text + "# tpudist: tf2\n", to)[1] == []
    assert told(tmp_path, text + "tf.random.set_seed(1)\n", to)[1] == []
    assert told(tmp_path, text, to, origin="2.2")[1] == []


@pytest.mark.parametrize(
    "line",
    [
        "layer = tf.keras.layers.BatchNormalization(); layer.trainable = True",
        "layer = tf.keras.layers.Dense(1); layer.trainable = False",
        "tf.keras.layers.LSTM(2, recurrent_activation='sigmoid')",
    ],
)
def test_what_did_not_change_is_not_told(tmp_path, line):
    assert told(tmp_path, TF + line + "\n") == (TF + line + "\n", [])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.shape[0].value", "tf.compat.dimension_value(x.shape[0])"),
        ("x.get_shape()[-1].value + 1", "tf.compat.dimension_value(x.get_shape()[-1]) + 1"),
        ("s = x.shape; s[1].value", "s = x.shape; tf.compat.dimension_value(s[1])"),
        ("[d.value for d in x.shape[1:]]", "[tf.compat.dimension_value(d) for d in x.shape[1:]]"),
        ("x.value", ""),
        ("rows[0].value", ""),
        ("[d.value for d in rows]", ""),
        ("x.shape[0]", ""),
        ("x.shape[1:].value", ""),
        ("x.shape[0].value = 3", ""),
    ],
)
def test_dimensions(tmp_path, before, after):
    text, left = told(tmp_path, TF + before + "\n")
    assert text == TF + (after or before) + "\n" and not left


def test_dimensions_of_a_session_stay(tmp_path):
    text = TF + "with tf.Session() as session:\n    session.run(x.shape[0].value)\n"
    assert "x.shape[0].value" in told(tmp_path, text)[0]


def test_names_of_before_1_0(tmp_path):
    text = TF + (
        "tf.scalar_summary('loss', tf.mul(a, tf.pack([b])))\n"
        "with tf.Session() as session:\n    tf.train.SummaryWriter('logs', session.graph)\n"
    )
    new, left = told(tmp_path, text)
    assert "tf.summary.scalar('loss', tf.multiply(a, tf.stack([b])))" in new and not left
    assert "tf.summary.FileWriter('logs', session.graph)" in new


TOWER = (
    TF
    + """s = tf.contrib.distribute.TPUStrategy(tf.contrib.cluster_resolver.TPUClusterResolver())
minimize = tf.train.GradientDescentOptimizer(0.1).minimize
def tower(x):
    return minimize(x)
s.call_for_each_tower(tower, y)
"""
)


def test_a_method_that_minimizes_and_is_handed_on_is_told(tmp_path):
    assert (3, "loss-scaling") in told(tmp_path, TOWER)[1]


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        ("model.compile(tf.train.AdamOptimizer(0.1), 'mse')", ["keras-optimizers"]),
        ("model.compile(optimizer='adam')", []),
        ("o = tf.keras.optimizers.Adam(); model.compile(o)", []),
        (
            "class L(tf.keras.layers.Layer):\n    def f(self): self.add_variable('w')",
            ["keras-arguments"],
        ),
        ("tf.Session().run(tf.keras.layers.Dense(3).kernel)", ["keras-2"]),
        ("tf.Session().run(tf.keras.datasets.mnist.load_data())", []),
    ],
)
def test_what_keras_3_has_not_is_told(tmp_path, line, keys):
    _, left = told(
        tmp_path, TF + "model = tf.keras.Sequential()\n" * ("model" in line) + line + "\n"
    )
    assert [key for _, key in left] == keys
    assert told(tmp_path, TF + line + "\n", keras="2")[1] == []


def test_the_table_of_defaults_is_right():
    tf = pytest.importorskip("tensorflow", minversion="2.0")
    import inspect

    for name, rows in surfaces.CHANGED_DEFAULTS.items():
        made = getattr(tf.keras.layers, name.rpartition(".")[2])
        found = inspect.signature(made.__init__).parameters
        for parameter, row in rows.items():
            assert repr(found[parameter].default) != row.partition(" ")[2], name


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.concat(1, [a, b])", "tf.concat([a, b], 1)"),
        ("tf.concat(-1, values, name='x')", "tf.concat(values, -1, name='x')"),
        ("tf.split(1, 2, x)", "tf.split(x, 2, 1)"),
        ("tf.split(x, 2, 1)", "tf.split(x, 2, 1)"),
        ("tf.concat([a, b], 1)", "tf.concat([a, b], 1)"),
        ("tf.concat(values, 1)", "tf.concat(values, 1)"),
    ],
)
def test_the_order_of_before_1_0_is_todays(tmp_path, before, after):
    text = "import tensorflow.compat.v1 as tf\n%s\n"
    texts, left = harness.migrated(tmp_path, {"a.py": text % before}, "latest")
    assert texts["a.py"] == text % after and not left
