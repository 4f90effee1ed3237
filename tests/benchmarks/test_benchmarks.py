"""The benchmark program measures every figure; no time is ever asserted."""

import math
import re
import subprocess
import sys

import pytest

from tests.benchmarks import processes
from tpudist.tfcompat import versions

pytestmark = [pytest.mark.slow, pytest.mark.proof]


#: One row of each kind that the table must have.
EXPECTED = [
    r"step time .* virtual cores / one plain device",
    r"step time .* virtual cores / MirroredStrategy on \d+ logical CPUs",
    r"CPU time of a step .* cluster:virtual:\d+ / MultiWorkerMirroredStrategy",
    r"their bytes / those of the gradients",
    r"resident memory .* virtual cores / one plain device",
    r"first step .* virtual cores / one virtual core",
    r"step, CPU time of an MLP, assigned in the replicas: \d+ virtual cores",
    r"while_loop: CPU time of a step, \d+ virtual cores / one plain device",
    r"while_loop: CPU time of the first step",
    r"while_loop: memory",
    r"run_steps_on_dataset .* Session.run calls of one",
    r"run_steps_on_dataset .* tf.function calls of one",
    r"TPUEstimator on 8 virtual cores / use_tpu=False: CPU time of a step",
    r"TPUEstimator on 8 virtual cores / use_tpu=False: CPU time of train",
    r"graph ops .* the 2.0 facade / the native TPUStrategy",
    r"graph ops .* the 2.2 facade / the native TPUStrategy",
    r"whole process: python -c 'import tpudist'",
    r"whole process: tpudist --help",
    r"tpudist migrate, \d+ files of 200 lines, 5 % legacy",
    r"the same tree: tpudist migrate / tf_upgrade_v2",
]

#: Those where there is a libtpu.
COMPILED = [
    r"compiling an MNIST-like CNN .*: CPU time",
    r"compiling .*: memory of the compiler's process",
    r"compiling .*: a kept answer",
    r"compiling it for 256 replicas / for 1",
    r"compiling ResNet50",
    r"compiling lstm.*: memory of the compiler",
]


@pytest.mark.skipif(not versions.KERAS_3, reason="the figures are those of the newest TensorFlow")
def test_every_figure_is_measured():
    done = subprocess.run(
        [sys.executable, "tests/benchmarks/run.py", "--quick"],
        cwd=str(processes.ROOT),
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    rows = re.findall(
        r"^\| (.+) \| ([0-9.]+|nan|inf)( s| GiB)?( \(above\))? \| ", done.stdout, re.M
    )
    assert all(math.isfinite(float(row[1])) for row in rows)
    compiles = "compiling is not measured: " not in done.stdout
    for pattern in EXPECTED + (COMPILED if compiles else []):
        assert any(re.match(pattern, row[0]) for row in rows), pattern
