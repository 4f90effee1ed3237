"""A program of 2019 that feeds Keras batch by batch in a strategy's scope, unmodified.

The numbers are those of the same program without a strategy on plain TensorFlow 1.15.
"""

import importlib.util
import json

import numpy as np
import pytest

from tests.programs.test_keras import DATA, run
from tpudist.tfcompat import keras_packages, versions

pytestmark = pytest.mark.slow

#: Losses, and predictions of the first row.
PLAIN = json.loads(
    """{
    "train": [2.959405, 2.616921, 2.714373, 2.32378],
    "fit": [2.347338, 2.179614, 2.060185],
    "weights": [2.634181, 2.343499],
    "test": [2.536232, 0.3125],
    "predict": [
        0.03084143, 0.007515683, 0.6321225, 0.1005779, 0.04960683,
        0.008836476, 0.08865488, 0.02051882, 0.05441004, 0.006915316
    ]
}"""
)
if not versions.HAS_COMPAT_V2:
    PLAIN["weights"] = [2.652279, 2.348299]  # Keras of 1.13 divides by the sum of the weights.


def test_batches_generators_and_weights(tmp_path):
    options = ["--tpu", "my-tpu", "--data", DATA, "--model_dir", str(tmp_path)]
    logs = importlib.util.find_spec("tensorboard") is not None
    done = run("keras_batches.py", *options, *(["--tensorboard"] if logs else []))
    if keras_packages.is_keras_3():
        assert done.returncode == 1 and "keras: tf.keras (keras_batches.py:" in done.stderr
        return
    if versions.HAS_COMPAT_V2 and not versions.KERAS_TAKES_BATCHES:
        # Keras refuses it itself, each release in other words; ours come before and after.
        said = "keras: under a strategy's scope fit_generator (keras_batches.py:"
        assert done.returncode == 1 and done.stderr.count(said) == 2
        assert "tf.contrib.tpu.keras_to_tpu_model" in done.stderr
        return
    assert done.returncode == 0, done.stderr[-3000:]
    without = "keras: TensorFlow 2 behaviour, for fit_generator (keras_batches.py:"
    assert (without in done.stderr) == versions.TF2
    found = json.loads(done.stdout.split("RESULT")[1])
    assert found.pop("events") == logs
    for name, actual in found.items():
        np.testing.assert_allclose(actual, PLAIN[name], 1e-5, 1e-5, err_msg=name)
