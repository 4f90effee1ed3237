"""Ctrl-C reaches tpudist and what it runs at once; nothing half-made is left behind."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests import ROOT
from tests.tools.matrix import wheels
from tpudist.tools.matrix import environments

#: What stands in for uv, pytest: it says that it has begun, and is in no hurry.
SLOW = "import sys, time; print('begun', file=sys.stderr, flush=True); time.sleep(600)"

DRIVER = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from tpudist import cli
from tpudist.tools.matrix import environments
environments.own_tpudist = lambda: ["tpudist==1.0"]
{patch}
sys.exit(cli.main(sys.argv[1:]))
"""

SLOW_SET_UP = """
from tpudist.tools.matrix import environments
real = environments._call
def slow(release, command, env=None):
    if "pip" in command:
        command = [sys.executable, "-c", "import sys, time; time.sleep(60)"]
        print("begun", file=sys.stderr, flush=True)
    return real(release, command, env)
environments._call = slow
"""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no process groups")


def interrupt(arguments, patch=""):
    """Runs ``tpudist matrix``, and interrupts it as a terminal does once it says ``begun``."""
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER.format(patch=patch), "matrix"] + arguments,
        env=dict(os.environ, PYTHONPATH=ROOT),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        start_new_session=True,
    )
    said = ""
    while "begun" not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    return process.returncode, said + rest


@pytest.fixture
def table(machine, tmp_path):
    return str(wheels.table(tmp_path / "releases.cfg", ("9.1", "9.1.0"), ("9.2", "9.2.3")))


def test_while_the_command_runs(table):
    code, said = interrupt(["--table", table, "--releases", "9.1,9.2", "--", "python", "-c", SLOW])
    assert code == 130
    lines = said.strip().splitlines()[-2:]
    assert "interrupted" in lines[0] and "9.1.0" in lines[0] and "not run" in lines[1]


def test_while_an_environment_is_made(table, tmp_path):
    arguments = ["--table", table, "--releases", "9.1"]
    code, said = interrupt(arguments, SLOW_SET_UP)
    assert code == 130 and "interrupted" in said.strip().splitlines()[-1]
    kept = [
        folder
        for folder, _, names in os.walk(str(tmp_path / "cache"))
        if environments.MARKER in names
    ]
    assert kept == []
    done = subprocess.run(
        [sys.executable, "-c", DRIVER.format(patch=""), "matrix"] + arguments,
        env=dict(os.environ, PYTHONPATH=ROOT),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 0 and "setting up" in done.stdout
