"""A trainer of 2019 that drives the TPU by Sessions of its own, unmodified, under ``tpudist run``.

It compares its weights and losses with NumPy's.
"""

import pytest

from tests.programs.test_keras import run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("tpu", "options"),
    [("virtual:8", ["--threads", "1"]), ("virtual:8", []), ("virtual:v3-32", ["--cores", "32"])],
)
def test_weights_and_losses(tpu, options):
    done = run("train_runner.py", *options, tpu=tpu)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.endswith("right\n")
    assert "a TPU calls no Python" not in done.stderr
