"""A program of 2018 with ``keras_to_tpu_model``, unmodified, under ``tpudist run``.

The numbers are those of the same program without a TPU on plain TensorFlow 1.15, and of 1.13
on 1.13 (``keras_tpu_model.plain.json``: there ``fit`` and ``train_on_batch`` have slots each).
"""

import json
import os

import numpy as np
import pytest

from tests.programs.test_keras import DATA, HERE, run
from tpudist.tfcompat import keras_packages, versions

pytestmark = pytest.mark.slow

with open(os.path.join(HERE, "keras_tpu_model.plain.json")) as _file:
    PLAIN = json.load(_file)["1.15" if versions.HAS_COMPAT_V2 else "1.13"]


def test_the_numbers_of_one_device(tmp_path):
    options = ["--tpu", "my-tpu", "--data", DATA, "--model_dir", str(tmp_path)]
    done = run("keras_tpu_model.py", *options)
    if keras_packages.is_keras_3():
        assert done.returncode == 1 and "keras: tf.keras (keras_tpu_model.py:" in done.stderr
        return
    assert done.returncode == 0, done.stderr[-3000:]
    assert "is stateful and runs on one core" in done.stderr
    found = json.loads(done.stdout.split("RESULT")[1])
    mean = found.pop("moving_mean")
    assert found.pop("saved") == PLAIN["saved"]
    for name, actual in found.items():
        np.testing.assert_allclose(_flat(actual), _flat(PLAIN[name]), 1e-5, 1e-5, err_msg=name)
    np.testing.assert_allclose(mean, [_mean_of_the_first_core()], 1e-5)


def _mean_of_the_first_core(cores=8, batch=64, momentum=0.5):
    """What the first core's BatchNormalization keeps of its rows, in numpy."""
    rows = np.loadtxt(DATA, delimiter=",")
    rows = rows[np.random.RandomState(0).permutation(len(rows))][:256, :64] / 16
    mean = 0.0
    for start in range(0, 256, batch):
        mean += (1 - momentum) * (rows[start : start + batch // cores].mean() - mean)
    return mean


def _flat(nested):
    return [x for each in nested for x in _flat(each)] if isinstance(nested, list) else [nested]
