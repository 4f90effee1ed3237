"""The dearest tests are told, also by several processes."""

import re

import pytest

from tests.examples import running

CODE = """
import subprocess, sys, time

WORK = "import time\\nwhile time.process_time() < %s: pass"

def test_cheap():
    time.sleep(1)

def test_dear():
    exec(WORK % (time.process_time() + 0.3))

def test_dear_in_a_process():
    subprocess.run([sys.executable, "-c", WORK % 0.6])
"""


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["0", "2"])
def test_the_dearest_come_first(processes, tmp_path):
    (tmp_path / "test_a.py").write_text(CODE)
    plugins = ["-p", "tests.cpu_seconds", "-p", "no:cacheprovider", "-n", processes]
    done = running.python("-m", "pytest", *plugins, "--rootdir", str(tmp_path), str(tmp_path))
    assert done.returncode == 0, done.stdout
    table = done.stdout.partition("CPU seconds")[2]
    told = re.findall(r"^ +([\d.]+)  .*::(\w+)$", table, re.MULTILINE)
    assert [name for _, name in told] == ["test_dear_in_a_process", "test_dear", "test_cheap"]
    assert float(told[0][0]) >= 0.6 and float(told[2][0]) < 0.3
