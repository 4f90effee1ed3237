"""The driver in a process of its own, where logical devices can be made."""

import os
import pathlib
import subprocess
import sys

from tpudist import machine

_ROOT = pathlib.Path(__file__).resolve().parents[2]


def run_driver(*arguments, timeout=1200):
    """Runs `tests.differential.driver`, for seconds at most; returns the finished process."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("TPUDIST_")
    }
    environment[machine.STRICT_BATCHING] = "1"  # what steps aside for users is an error here
    if "TPUDIST_TEST_DEVICE" in os.environ:  # see tests/gpu
        environment["TPUDIST_DEVICE"] = os.environ["TPUDIST_TEST_DEVICE"]
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.differential.driver"] + list(arguments),
        cwd=str(_ROOT),
        env=environment,
        timeout=timeout,
        capture_output=True,
        text=True,
    )
