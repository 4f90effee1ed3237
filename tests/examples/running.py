"""Runs the example scripts as a user would, in processes of their own."""

import importlib.util
import os
import re
import subprocess
import sys

from tests import ROOT
from tpudist import machine

EXAMPLES = os.path.join(ROOT, "examples")

_LAST = re.compile(r"^final loss=(\S+) accuracy=(\S+)$")


def load(name):
    """The module ``examples/<name>.py``, imported from its file."""
    spec = importlib.util.spec_from_file_location(
        "examples_" + name, os.path.join(EXAMPLES, name + ".py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


run_all = load("run_all")

#: One example of each API generation; all of them are run by README's first command.
IN_CI = ("contrib_towers", "tpu_estimator", "v2_0", "v2_2")


def python(*arguments, **options):
    """Runs Python with this checkout's tpudist.

    Args:
      *arguments: its command line.
      **options: of ``subprocess.run``.

    Returns:
      The finished process, with its output as text.
    """
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TPU")}
    environ["PYTHONPATH"] = ROOT
    environ[machine.TPU_CHECK] = "error"  # they run on TPUs: a line would be a false alarm
    return subprocess.run(
        [sys.executable, "-W", "ignore"] + list(arguments),
        env=environ,
        capture_output=True,
        text=True,
        **options,
    )


def result(done):
    """The `run_all.Result` that a finished example printed last."""
    assert done.returncode == 0, done.stderr
    found = _LAST.match(done.stdout.splitlines()[-1])
    assert found, done.stdout
    return run_all.Result(float(found.group(1)), float(found.group(2)), 0.0)


def example(name, *arguments):
    """Runs ``examples/<name>.py``; returns the finished process."""
    return python(os.path.join(EXAMPLES, name + ".py"), *arguments)
