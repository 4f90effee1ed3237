"""Distributed data is read with fewer threads than replicas."""

import functools
import json
import os
import subprocess
import sys

import pytest

from tests.conformance import starved_ways
from tests.helpers.generations import second_generation

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

pytestmark = [pytest.mark.slow, second_generation]


@functools.lru_cache(None)
def read(threads):
    """What the program prints and, if it stops before its end, why."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.conformance.starved_ways", str(threads)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=dict(os.environ, PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3"),
    )
    return dict(map(json.loads, done.stdout.splitlines())), done.stderr


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.proof)])
@pytest.mark.parametrize("way", starved_ways.WAYS)
def test_data_is_read_with_few_threads(way, threads):
    # On 2.2 each replica's iterator of TensorFlow's held a thread until its share was made.
    found, problem = read(threads)
    assert way in found, problem[-5000:]
    assert found[way] == pytest.approx(starved_ways.EXPECTED[way])
