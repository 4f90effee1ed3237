"""The Keras of a script under ``tpudist run``, and what is said where it is another one."""

import os
import re
import sys

import numpy as np
import pytest

from tests.legacy.harness import in_a_process
from tpudist import machine, surfaces
from tpudist.legacy import era_keras, quirks, runner
from tpudist.surfaces.eras import program
from tpudist.tfcompat import keras_packages, versions

SCRIPT = """
    import os
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile("adam", "mse")
    print("classes", type(model) is tf.keras.Sequential,
          type(model.optimizer) is tf.keras.optimizers.Adam)
    print("package", tf.keras.layers.Dense.__module__.split(".")[0])
    tf.keras.metrics.Mean().reset_states()
"""
LINE = "keras: tf.keras (script.py:5) is Keras 3 here"
ERA = "2.2" if versions.TF2 else "contrib"
needs_keras_3 = pytest.mark.skipif(not versions.KERAS_3, reason="TensorFlow has its own Keras 2")


@pytest.mark.slow
def test_a_script_gets_the_keras_of_its_era(script):
    done = in_a_process(script(SCRIPT))
    if keras_packages.is_keras_3():
        assert done.returncode == 1 and "package keras" in done.stdout
        before, traceback, after = done.stderr.partition("Traceback")
        assert LINE in before and "reset_states" in after and LINE in after
        assert machine.legacy_keras_line(keras_packages.minor()) in before
        told = in_a_process(script(SCRIPT), (), ERA).stderr  # Nothing is read before it fails.
        assert LINE not in told.partition("Traceback")[0] and LINE in told
    else:
        assert done.returncode == 0, done.stderr
        assert "classes True True" in done.stdout and "Keras 3" not in done.stderr
        assert ("package tf_keras" in done.stdout) == keras_packages.legacy()


@pytest.mark.slow
@needs_keras_3
def test_the_installed_keras_if_asked_for(script):
    done = in_a_process(script(SCRIPT), (), "2.2", None, None, "installed")
    assert "package keras" in done.stdout and "keras: " not in done.stderr


@pytest.mark.parametrize(("release", "keras"), [("2.21.0", "3.15.1"), ("2.15.1", "2.15.0")])
def test_tf_keras_is_for_tensorflow_with_keras_3(monkeypatch, release, keras):
    releases = {"tensorflow": release, "tf_keras": release, "keras": keras}
    monkeypatch.setattr(machine, "_release_of", releases.get)
    assert machine.legacy_keras_fits() == (keras[0] == "3")


def test_tensorflow_itself_is_told_which_keras(monkeypatch):
    monkeypatch.delenv(machine.LEGACY_KERAS, raising=False)
    monkeypatch.delitem(sys.modules, "tensorflow")
    monkeypatch.setattr(machine, "legacy_keras_fits", lambda: True)
    with era_keras.chosen(None):
        assert os.environ[machine.LEGACY_KERAS] == "1"
    assert machine.LEGACY_KERAS not in os.environ
    with era_keras.chosen("installed"):
        assert os.environ[machine.LEGACY_KERAS] == "0"
    monkeypatch.setenv(machine.LEGACY_KERAS, "0")
    with era_keras.chosen(None):
        assert os.environ[machine.LEGACY_KERAS] == "0"
    with era_keras.chosen("era"):
        assert os.environ[machine.LEGACY_KERAS] == "1"
    assert os.environ[machine.LEGACY_KERAS] == "0"


def test_nothing_is_left(script):
    optimizers = keras_packages.optimizers_found_by_name()
    before = getattr(optimizers, "get", None), dict(os.environ)
    assert runner.run(script("import tensorflow as tf\ntf.keras"), era=ERA) == 0
    assert (getattr(optimizers, "get", None), dict(os.environ)) == before


@pytest.mark.parametrize(
    ("source", "tensorflows", "own"),
    [
        ("import tensorflow as tf\ntf.keras.layers.Dense(1)", "script.py:2", None),
        ("import tensorflow as tf\ntf.compat.v1.layers.dense(x, 1)", "script.py:2", None),
        ("import tensorflow as tf\nx = 1\ntf.nn.rnn_cell.GRUCell(1)", "script.py:3", None),
        ("from tensorflow.keras import layers", "script.py:1", None),
        ("from tensorflow import keras", "script.py:1", None),
        ("import tensorflow as tf\ntf.nn.relu(x)\ntf.losses.add_loss(x)", None, None),
        ("import keras", None, "script.py:1"),
        ("x = 1\nfrom keras.layers import Dense", None, "script.py:2"),
        ("try:\n  import keras\nexcept ImportError:\n  keras = None", None, None),
        ("import kerastuner", None, None),
        ("import keras\nkeras.ops.add(1, 2)", None, None),
        ("import helper\nfrom keras import ops", None, None),
        ("import keras\nfrom keras.random import uniform", None, None),
        ("import helper", "helper.py:2", None),
    ],
)
def test_uses_of_keras(script, source, tensorflows, own):
    path = script(source, helper="import tensorflow as tf\ntf.keras")
    keras = program.read(path).keras
    assert (keras.tensorflows, keras.own) == (tensorflows, own)


@pytest.mark.slow
@pytest.mark.skipif(keras_packages.is_keras_3(), reason="the graphs of TensorFlow 1 need Keras 2")
def test_a_recurrent_layer_runs_in_a_graph_of_contribs_era(script):
    done = in_a_process(
        script("""
        import numpy as np
        import tensorflow as tf
        layer = tf.keras.layers.LSTM(4, kernel_initializer=tf.keras.initializers.Constant(0.1),
                                     recurrent_initializer="zeros")
        model = tf.keras.Sequential([layer])
        model.compile(tf.train.GradientDescentOptimizer(0.0), "mse")
        inputs = np.ones([2, 5, 3], np.float32)
        model.fit(inputs, np.ones([2, 4], np.float32), verbose=0)
        print("RESULT %.4f" % model.predict(inputs)[1, 3], tf.executing_eagerly())
        """),
        (),
        "contrib",
    )
    gate, forget = 0.2 * 0.3 + 0.5, 0.2 * 1.3 + 0.5  # Hard sigmoids; a forget gate's bias is one.
    cell = 0.0
    for _ in range(5):
        cell = forget * cell + gate * np.tanh(0.3)
    output = float(gate * np.tanh(cell))
    assert "RESULT %.4f False" % output in done.stdout, done.stdout + done.stderr


def test_a_folder_called_keras_is_the_users(script, tmp_path):
    (tmp_path / "keras").mkdir()
    assert program.read(script("import keras")).keras.own is None


def test_a_module_of_the_users_keras_imports_the_others_of_it(tmp_path):
    (tmp_path / "keras").mkdir()
    (tmp_path / "keras" / "__init__.py").write_text("", "utf-8")
    (tmp_path / "keras" / "train.py").write_text("from keras import anchors", "utf-8")
    assert program.read(str(tmp_path / "keras" / "train.py")).keras.own is None


@pytest.mark.slow
def test_keras_of_its_own_gets_an_answer_in_words(script):
    done = in_a_process(script("import keras\nraise ValueError('out of keras')"))
    said = done.stderr.count("script.py:1 imports keras, which was a package of its own")
    is_tensorflows = versions.KERAS_IS_A_PACKAGE and not versions.KERAS_3
    assert said == (0 if is_tensorflows else 2), done.stderr
    assert ("from tensorflow import keras" in done.stderr) == (not is_tensorflows)


@pytest.mark.skipif(keras_packages.is_keras_3(), reason="the layers of TensorFlow 1 are Keras 2's")
def test_batch_normalization_as_slim_and_the_tpu_trainers_have_it(script, capfd):
    path = script("""
        import numpy as np
        import tensorflow as tf
        from tensorflow.python.layers import normalization as as_tf_slim_names_it

        class Shifted(tf.layers.BatchNormalization):
            def _moments(self, inputs, reduction_axes, keep_dims):
                mean, variance = super()._moments(inputs, reduction_axes, keep_dims=keep_dims)
                return mean + 1.0, variance

        inputs = np.float32([[1.0], [2.0], [4.0], [9.0]])
        for made in (as_tf_slim_names_it.BatchNormalization(fused=False), Shifted(fused=False)):
            outputs = made(tf.constant(inputs), training=True)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                print("RESULT", " ".join("%.3f" % each for each in session.run(outputs)[:, 0]))
        """)
    code = runner.run(path, era="contrib")
    out, err = capfd.readouterr()
    assert code == 0, err
    inputs = np.array([1.0, 2.0, 4.0, 9.0])
    means = [inputs.mean(), inputs.mean() + 1.0]
    expected = [(inputs - mean) / np.sqrt(inputs.var() + 1e-3) for mean in means]
    found = [line.split()[1:] for line in out.splitlines() if line.startswith("RESULT")]
    np.testing.assert_allclose(np.array(found, float), expected, atol=1e-3)


@pytest.mark.skipif(keras_packages.is_keras_3(), reason="Keras 3 has another Dense")
def test_a_dense_layer_is_told_its_units_when_it_is_built(script, capfd):
    path = script("""
        import tensorflow as tf

        class Square(tf.keras.layers.Layer):
            def __init__(self):
                super().__init__()
                self.dense = tf.keras.layers.Dense(-1, use_bias=False)

            def build(self, input_shape):
                self.dense.units = int(input_shape[-1])
                super().build(input_shape)

            def call(self, inputs):
                return self.dense(inputs)

        square = Square()
        print("SHAPE", square(tf.zeros([2, 3])).shape, square.dense.get_config()["units"])
        print("SHAPE", tf.keras.layers.Dense(units=5)(tf.zeros([2, 3])).shape)
        """)
    code = runner.run(path, era=ERA)
    out, err = capfd.readouterr()
    assert code == 0, err
    assert re.findall("SHAPE (.*)", out) == ["(2, 3) 3", "(2, 5)"]


def test_batch_normalization_is_tensorflows_again():
    base = keras_packages.batch_normalization_with_masks() or object
    found = keras_packages.normalization_of_graphs()
    before = found and found[0].normalization
    with quirks.applied():
        assert found is None or found[0].normalization is found[1]
    assert "__init_subclass__" not in vars(base) or base is object
    assert found is None or found[0].normalization is before


ASKED = """
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    for owner in (model, model.layers[0], tf.keras.metrics.Mean()):
        for name in %r:
            try:
                getattr(owner, name)
            except AttributeError as error:
                print(type(error).__name__, name, "Instead:" in str(error), hasattr(owner, name))
    model.predict_classes = 3
    print("set", model.predict_classes)
"""


def test_members_that_are_gone_say_what_to_type(script):
    names = sorted({name for _, name in surfaces.KERAS_MEMBERS})
    done = in_a_process(script(ASKED % names), (), ERA)
    assert done.returncode == 0, done.stderr
    *asked, last = [line.split() for line in done.stdout.splitlines()]
    assert last == ["set", "3"]
    told = [line for line in asked if line[0] == "EraNameError"]
    assert all(line[2:] == ["True", "False"] for line in told)
    gone = {line[1] for line in told}
    assert ("predict_classes" in gone) == versions.KERAS_IS_A_PACKAGE
