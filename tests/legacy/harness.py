"""The script runner in a Python of its own."""

import os
import subprocess
import sys

from tests import ROOT


def in_a_process(*arguments):
    """Runs ``runner.run(*arguments)`` in a new Python; returns the finished process."""
    code = "import sys\nfrom tpudist.legacy import runner\nsys.exit(runner.run(*%r))" % (arguments,)
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3"),
    )
