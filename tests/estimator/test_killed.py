"""A training that is killed continues from its last checkpoint, with the same numbers."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests import ROOT
from tests.estimator import harness

pytestmark = pytest.mark.slow

SCRIPT = """
import sys
from tests.estimator import harness
est = harness.estimator(sys.argv[1], save_checkpoints_steps=400)
est.train(harness.input_fn, max_steps=100000)
"""


def test_a_killed_training_continues(tmp_path):
    environ = dict(os.environ, PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3")
    running = subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path)], env=environ)
    est = harness.estimator(tmp_path, save_checkpoints_steps=400)
    deadline = time.time() + 240
    while time.time() < deadline and (est.latest_checkpoint() or "-0").endswith("-0"):
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGKILL)
    running.wait()
    step = int(est.get_variable_value("global_step"))
    assert step and step % 400 == 0
    est.train(harness.input_fn, steps=8)
    whole = harness.estimator(tmp_path / "whole", save_checkpoints_steps=10**6)
    whole.train(harness.input_fn, max_steps=step)
    whole.train(harness.input_fn, steps=8)
    for name in ("linear/w", "linear/b", "linear/w/Momentum", "global_step"):
        np.testing.assert_array_equal(est.get_variable_value(name), whole.get_variable_value(name))
