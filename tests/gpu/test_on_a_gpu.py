"""A GPU computes for the virtual TPU: conformance and random programs again, on it.

    python -m pytest -m gpu

on a machine that has one. TPUDIST_TEST_DEVICE says which device the tests of a process
use; without it (and on machines without a GPU) they use the CPU.
"""

import os
import pathlib
import subprocess
import sys

import pytest
import tensorflow as tf

from tests.differential.processes import run_driver

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEVICE = "GPU:0"


def gpus():
    return tf.config.experimental.list_physical_devices("GPU")


pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        not hasattr(tf.config, "experimental") or not gpus(), reason="this machine has no GPU"
    ),
]


@pytest.fixture
def on_the_gpu(monkeypatch):
    monkeypatch.setenv("TPUDIST_TEST_DEVICE", DEVICE)
    monkeypatch.setenv("TF_FORCE_GPU_ALLOW_GROWTH", "true")  # this process has some of it


@pytest.mark.parametrize("folder", ["tests/conformance", "tests/contrib", "tests/virtual"])
def test_conformance(on_the_gpu, folder):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", folder],
        cwd=str(ROOT),
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "virtual cores compute on " + DEVICE in done.stdout


@pytest.mark.parametrize(("mode", "replicas"), [("function", 2), ("function", 4), ("graph", 2)])
def test_random_programs(on_the_gpu, mode, replicas):
    done = run_driver("--mode", mode, "--replicas", str(replicas), "--examples", "25")
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
