"""The Keras of a script under ``tpudist run``, and what is said where it is another one."""

import os
import sys

import pytest

from tests.legacy.harness import in_a_process
from tpudist import machine
from tpudist.eras import keras_uses
from tpudist.legacy import era_keras, runner
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


def test_a_script_gets_the_keras_of_its_era(script):
    done = in_a_process(script(SCRIPT), (), ERA)
    if keras_packages.is_keras_3():
        assert done.returncode == 1 and "package keras" in done.stdout
        before, traceback, after = done.stderr.partition("Traceback")
        assert LINE in before and "reset_states" in after and LINE in after
        assert machine.legacy_keras_line(keras_packages.minor()) in before
    else:
        assert done.returncode == 0, done.stderr
        assert "classes True True" in done.stdout and "Keras 3" not in done.stderr
        assert ("package tf_keras" in done.stdout) == keras_packages.legacy()


@needs_keras_3
def test_the_installed_keras_if_asked_for(script):
    done = in_a_process(script(SCRIPT), (), "2.2", None, None, "installed")
    assert "package keras" in done.stdout and "keras: " not in done.stderr


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
    "source, tensorflows, own",
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
        ("import helper", "helper.py:2", None),
    ],
)
def test_uses_of_keras(script, source, tensorflows, own):
    path = script(source, helper="import tensorflow as tf\ntf.keras")
    assert keras_uses.find(path) == keras_uses.Uses(tensorflows, own)


def test_a_folder_called_keras_is_the_users(script, tmp_path):
    (tmp_path / "keras").mkdir()
    assert keras_uses.find(script("import keras")).own is None


def test_keras_of_its_own_gets_an_answer_in_words(script):
    done = in_a_process(script("import keras\nraise ValueError('out of keras')"), (), ERA)
    said = done.stderr.count("script.py:1 imports keras, which was a package of its own")
    is_tensorflows = versions.KERAS_IS_A_PACKAGE and not versions.KERAS_3
    assert said == (0 if is_tensorflows else 2), done.stderr
    assert ("from tensorflow import keras" in done.stderr) == (not is_tensorflows)
