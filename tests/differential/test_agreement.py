"""Random programs do the same on the virtual TPU and on MirroredStrategy.

TPUDIST_EXAMPLES sets how many programs; `python -m tests.differential.driver`
runs one mode by hand, with a seed or a program.
"""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("mode", ["function", "graph"])
def test_the_engines_agree(mode):
    examples = os.environ.get("TPUDIST_EXAMPLES", "25")
    done = subprocess.run(
        [sys.executable, "-m", "tests.differential.driver", "--mode", mode,
         "--examples", examples],
        cwd=str(ROOT), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        universal_newlines=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert "programs agree" in done.stdout
