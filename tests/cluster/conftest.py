"""Runs programs on clusters of processes of this machine."""

import os
import subprocess
import sys

import pytest

from tests import ROOT
from tpudist.tfcompat import versions


@pytest.fixture
def run(tmp_path):
    """``run(script, *arguments, tpu="virtual:8")`` or ``run(..., workers=2, cores=4)``.

    `options` are those of ``tpudist run``, `launched` those of ``tpudist launch``.

    It returns the finished process; the script is a text, and is run in a folder of the test's.
    """

    def ran(
        script, *arguments, tpu="virtual:8", workers=0, cores=4, path="train.py", options=(),
        launched=(),
    ):  # fmt: skip
        on_cpus = not str(cores if workers else tpu).startswith("virtual")
        if on_cpus and not versions.WORKERS_HAVE_NAMED_DEVICES:
            pytest.skip("workers of that TensorFlow have one CPU")
        tmp_path.joinpath(path).write_text(script, "utf-8")
        environ = {name: value for name, value in os.environ.items() if name[:3] != "TPU"}
        environ.update(PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3")
        how = ["run", "--tpu", tpu]
        if workers:
            hosts = ",".join(["localhost"] * workers)
            how = ["launch", "--hosts", hosts, "--cores", str(cores), *launched, "--"]
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "tpudist", *how, *options, path, *arguments],
            cwd=str(tmp_path),
            env=environ,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return ran
