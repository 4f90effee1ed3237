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
#: 1.13's Keras asks for no scope, and takes optimizers of tf.train only under a strategy.
needs_scopes = pytest.mark.skipif(
    not versions.HAS_COMPAT_V2, reason="Keras of 1.13 takes strategies by compile(distribute=)"
)


def run(script, folder, *arguments):
    """The finished process of ``tpudist run`` on a virtual TPU."""
    command = [sys.executable, "-m", "tpudist", "run", "--tpu", "virtual:8"]
    return subprocess.run(
        command
        + [os.path.join(HERE, script), "--data", DATA, "--model_dir", str(folder)]
        + ["--tpu", "my-tpu", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        env=dict(os.environ, PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3"),
    )


@needs_scopes
@pytest.mark.parametrize("optimizer", ["keras", "tf.train"])
def test_the_numbers_of_the_mirrored_strategy(tmp_path, optimizer):
    done = run("keras_colab.py", tmp_path, "--optimizer", optimizer)
    if keras_packages.is_keras_3():
        assert done.returncode == 1 and "keras: tf.keras (keras_colab.py:" in done.stderr
        return
    assert done.returncode == 0, done.stderr[-3000:]
    found, expected = json.loads(done.stdout.split("RESULT")[1]), MIRRORED[optimizer]
    assert (found["rows"], found["saved"]) == (expected["rows"], expected["saved"])
    for name in ("losses", "history", "evaluate"):
        np.testing.assert_allclose(found[name], expected[name], 1e-5, 1e-5, err_msg=name)
    np.testing.assert_allclose(found["predicted"], expected["predicted"], 1e-4)
    # What was saved is the same in a model without a strategy, and in this one again.
    np.testing.assert_allclose(found["evaluate_again"], found["evaluate_plain"], 1e-5)
