"""``tpudist run -m pytest``: the tests of a package see the era's TensorFlow, unmodified."""

import os
import subprocess
import sys

import pytest

from tests import ROOT

MODULE = """
import tensorflow as tf

def replicas():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
    strategy = tf.distribute.experimental.TPUStrategy(resolver)
    step = tf.function(lambda: strategy.experimental_run_v2(lambda: tf.constant(1.0)))
    return len(strategy.experimental_local_results(step()))
"""
TEST = """
from pack import training

def test_replicas():
    assert training.replicas() == 4
"""


def test_a_package_with_tests(tmp_path):
    pytest.importorskip("tensorflow", minversion="2.2", reason="the package is of TensorFlow 2")
    for path, text in (("pack/__init__.py", ""), ("pack/training.py", MODULE)):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "test_pack.py").write_text(TEST)
    options = ["--era", "2.0", "--tpu", "virtual:4", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "tpudist", "run"] + options,
        cwd=str(tmp_path),
        env=dict(os.environ, PYTHONPATH=ROOT, PYTEST_ADDOPTS=""),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout
