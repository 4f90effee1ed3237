"""A namespace of 2.x behaves as TensorFlow 2 on TensorFlow 1 too, in a process of its own."""

import subprocess
import sys

import pytest

pytest.importorskip("tensorflow")

from tpudist.tfcompat import versions

PROGRAM = """
{first}
from tpudist.{era} import tensorflow as tf
strategy = tf.distribute.experimental.TPUStrategy(
    tf.distribute.cluster_resolver.TPUClusterResolver("virtual:4"))
data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(8))
print(tf.executing_eagerly())
print([int(strategy.reduce("SUM", rows, axis=0)) for rows in data])
"""


def run(**words):
    command = [sys.executable, "-c", PROGRAM.format(**words)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("era", ["v2_0", "v2_2"])
def test_the_first_use_switches_it_on(era):
    done = run(era=era, first="")
    assert done.stdout == "True\n[28]\n", done.stderr


def test_what_has_been_used_before_is_left_and_said():
    if versions.TF2:
        pytest.skip("TensorFlow 2 behaves so whenever it is used")
    done = run(era="v2_2", first="import tensorflow; tensorflow.constant(1)")
    assert done.stdout == "False\n"
    assert done.stderr.count("Instead: its first use before other code builds a graph") == 1
