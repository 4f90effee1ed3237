"""The benchmark program can measure every figure; no time is asserted."""

import math
import subprocess
import sys

import pytest

from tests.benchmarks import run


@pytest.mark.skipif(sys.version_info < (3, 10),
                    reason="the figures are those of the newest TensorFlow")
def test_every_row_is_measured():
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.run", "--quick"],
        cwd=str(run.ROOT), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        universal_newlines=True, timeout=900)
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ")
            for line in done.stdout.splitlines()[2:]]
    assert len(rows) == 12
    assert all(math.isfinite(float(row[1])) for row in rows)
