"""``--tpu gpus``: every GPU of the machine is a core; the numbers are those of the virtual TPU.

    python -m pytest -m gpu

The same programs run on a cluster's workers in tests/cluster.
"""

import pytest
import tensorflow as tf

from tests.cluster import programs
from tests.examples import running
from tests.gpu import test_on_a_gpu
from tpudist.system import cluster

pytestmark = test_on_a_gpu.pytestmark


def printed(script, tpu):
    """The losses of a program, and what else it prints before it draws random numbers."""
    done = running.python("-m", "tpudist", "run", "--tpu", tpu, str(script))
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    return [float(line[1]) for line in lines if line[0] in ("loss", "seen")]


def test_every_gpu_is_a_core():
    resolver = cluster.TPUClusterResolver("gpus")
    assert resolver.num_accelerators() == {"TPU": len(test_on_a_gpu.gpus())}


@pytest.mark.skipif(not hasattr(tf, "function"), reason="a program of TensorFlow 2")
def test_training_gives_the_numbers_of_the_virtual_tpu(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(programs.STEPS, "utf-8")
    found = printed(script, "gpus")
    assert len(found) == 21
    expected = printed(script, "virtual:%d" % len(test_on_a_gpu.gpus()))
    assert found == pytest.approx(expected, abs=1e-4)  # GPUs round the products otherwise


def test_selftest(tmp_path):
    done = running.python("-m", "tpudist", "selftest", "--tpu", "gpus", cwd=str(tmp_path))
    assert done.returncode == 0, done.stdout[-3000:]
