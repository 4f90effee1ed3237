"""Programs of 2019 that train with Keras' fit, unmodified, under ``tpudist run``.

The numbers are those of the same program with MirroredStrategy over 8 logical CPUs on
TensorFlow 1.15 (``keras_colab.mirrored.json``: its ``get_strategy`` replaced, nothing else).
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tpudist.tfcompat import keras_packages, versions

pytestmark = pytest.mark.slow

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "examples", "data", "digits.csv.gz")
with open(os.path.join(HERE, "keras_colab.mirrored.json")) as _file:
    MIRRORED = json.load(_file)


def run(script, *arguments, tpu="virtual:8"):
    """The finished process of ``tpudist run`` on a virtual TPU."""
    command = [sys.executable, "-m", "tpudist", "run", "--tpu", tpu]
    return subprocess.run(
        command + [os.path.join(HERE, script), *arguments],
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3"),
    )


@pytest.mark.parametrize("optimizer", [pytest.param("keras", marks=pytest.mark.proof), "tf.train"])
def test_the_numbers_of_the_mirrored_strategy(tmp_path, optimizer):
    options = ["--tpu", "my-tpu", "--data", DATA, "--model_dir", str(tmp_path)]
    done = run("keras_colab.py", *options, "--optimizer", optimizer)
    if keras_packages.is_keras_3():
        assert done.returncode == 1 and "keras: tf.keras (keras_colab.py:" in done.stderr
        return
    if not versions.HAS_COMPAT_V2:  # Keras of 1.13 asks for no scope, BatchNormalization does.
        assert done.returncode == 1 and "moving_mean" in done.stderr
        assert "model.compile(..., distribute=strategy)" in done.stderr
        return
    assert done.returncode == 0, done.stderr[-3000:]
    found, expected = json.loads(done.stdout.split("RESULT")[1]), MIRRORED[optimizer]
    assert (found["rows"], found["saved"]) == (expected["rows"], expected["saved"])
    for name in ("losses", "history", "evaluate"):
        np.testing.assert_allclose(found[name], expected[name], 1e-5, 1e-5, err_msg=name)
    np.testing.assert_allclose(found["predicted"], expected["predicted"], 1e-4)
    # What was saved is the same in a model without a strategy, and in this one again.
    np.testing.assert_allclose(found["evaluate_again"], found["evaluate_plain"], 1e-5)


def gradient_descent(steps, rows=64, batch=16, rate=0.1):
    """The weights of the program's linear model after so many steps, in numpy."""
    x = np.random.RandomState(0).rand(rows, 3).astype(np.float32)
    y = x.dot(np.array([[1.0], [-2.0], [3.0]], np.float32))
    kernel, bias = np.zeros((3, 1)), np.zeros(1)
    for step in range(steps):
        start = step * batch % rows
        part, target = x[start : start + batch], y[start : start + batch]
        error = part.dot(kernel) + bias - target
        kernel -= rate * 2 * part.T.dot(error) / batch
        bias -= rate * 2 * error.mean(axis=0)
    return [kernel, bias]


def test_a_strategy_that_compile_takes():
    done = run("keras_distribute.py", "my-tpu")
    if keras_packages.is_keras_3():  # It knows no such argument.
        assert done.returncode == 1 and "keras: tf.keras" in done.stderr
        return
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.split("RESULT")[1])
    # Each of the 8 towers takes a batch of 16: a step has all 64 rows, twice.
    for actual, expected in zip(found["weights"], gradient_descent(steps=8, batch=64)):
        np.testing.assert_allclose(actual, expected, 1e-5)


@pytest.mark.skipif(keras_packages.is_keras_3(), reason="Keras 3 has no compile(distribute=)")
def test_each_tower_takes_a_batch_as_in_1_12():
    done = run("keras_recorded.py", "my-tpu", tpu="virtual:2")
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stderr.count("as there each of the 2 towers takes a batch") == 1
    found = json.loads(done.stdout.split("RESULT")[1])
    with open(os.path.join(ROOT, "compat", "record", "recorded", "contrib_keras.json")) as file:
        expected = json.load(file)["output"]
    assert [what for what, _ in found] == [what for what, _ in expected]
    for (what, value), (_, wanted) in zip(found, expected):
        np.testing.assert_allclose(np.ravel(value), np.ravel(wanted), 2e-5, 1e-6, err_msg=what)


def test_fit_beside_a_loop_of_its_own():
    done = run("keras_and_loop.py", "my-tpu")
    if keras_packages.is_keras_3():  # Its models take no part in a graph of TensorFlow 1.
        assert done.returncode == 1 and "keras: tf.keras" in done.stderr
        return
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.split("RESULT")[1])
    for name, steps in (("middle", 8), ("weights", 12)):
        for actual, expected in zip(found[name], gradient_descent(steps)):
            np.testing.assert_allclose(actual, expected, 1e-5, err_msg=name)


@pytest.mark.skipif(
    keras_packages.is_keras_3() or not versions.HAS_COMPAT_V2, reason="its Keras asks for no scope"
)
def test_a_model_that_is_loaded_in_scope_is_told_what_to_type():
    failed = run("keras_load_in_scope.py", "my-tpu", "model")
    assert failed.returncode == 1
    assert "tpudist run: a model of Keras that is loaded" in failed.stderr, failed.stderr[-3000:]
    assert "Instead: model.load_weights(PATH)" in failed.stderr
    done = run("keras_load_in_scope.py", "my-tpu", "weights")
    assert done.returncode == 0, done.stderr[-3000:]
