"""The figures of ``tpudist migrate``: a tree of files, and ``tf_upgrade_v2`` on the same one."""

import os
import subprocess
import sys
import tempfile
import time

from tests.benchmarks import processes

_OTHER = '''
class Layer%d:
    """A layer that has nothing to do with a strategy."""

    def __init__(self, size, rate=0.1):
        self.size, self.rate = size, rate
        self._weights%d = [random.random() for _ in range(size)]

    def call(self, inputs, training=False):
        total = sum(weight * value for weight, value in zip(self._weights%d, inputs))
        if training and random.random() < self.rate:
            return {"total": 0.0, "mask": [index for index in range(self.size)]}
        return {"total": total, "mask": []}
'''

_LEGACY = """
def make%d(name):
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(name)
    return resolver, tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=10)


def train%d(name, inputs):
    resolver, distribution%d = make%d(name)
    with distribution%d.scope():
        losses%d = distribution%d.call_for_each_tower(step%d, inputs, rate=0.1)
        total = distribution%d.reduce(tf.VariableAggregation.MEAN, losses%d, "/device:CPU:0")
        towers = [each * distribution%d.num_towers for each in distribution%d.unwrap(losses%d)]
    return total, towers
"""

_HEAD = "import random\n\nimport tensorflow as tf\n"
LINES = 200
UPGRADE = (
    "import sys; from tensorflow.tools.compatibility import tf_upgrade_v2_main as m; "
    "sys.argv[1:] = %r; m.main()"
)


def text(legacy, number=0):
    """A file of `LINES` lines, with legacy names or without; no two files have the same names."""
    made, index = _HEAD, 0
    while made.count("\n") < LINES - 14:
        part = _LEGACY if legacy and index % 3 == 0 else _OTHER
        made += part.replace("%d", "%d_%d" % (number, index))
        index += 1
    return made + "# the end\n" * (LINES - made.count("\n"))


def write(folder, count, legacy_share):
    """Writes a tree of `count` files into a folder, 20 files a package."""
    for index in range(count):
        package = os.path.join(folder, "package%02d" % (index // 20))
        os.makedirs(package, exist_ok=True)
        with open(os.path.join(package, "module%03d.py" % index), "w") as file:
            file.write(text(index % int(1 / legacy_share) == 0, index))


def seconds(arguments):
    """(Wall time, output) of a Python process, which may say that something is left."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable] + arguments,
        cwd=processes.ROOT,
        env=processes.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr[-2000:]
    return time.perf_counter() - start, done.stdout


def measure(files, legacy_share=0.05):
    """Seconds of both tools on one tree, and of starting ours.

    Args:
      files: how many files the tree has.
      legacy_share: share of them with legacy names.

    Returns:
      A dict with "start", "migrate" and "upgrade", in seconds; "migrate" is
      the slower of a run before and one after ``tf_upgrade_v2``.
    """
    with tempfile.TemporaryDirectory() as folder:
        tree, out = os.path.join(folder, "tree"), os.path.join(folder, "out")
        write(tree, files, legacy_share)
        empty = os.path.join(folder, "empty.py")
        open(empty, "w").close()
        migrate = ["-m", "tpudist", "migrate", "--to", "2.2"]
        start = min(seconds(migrate + [empty])[0] for _ in range(3))
        first, printed = seconds(migrate + [tree])
        assert "%d change" % -(-files // int(1 / legacy_share)) in printed, printed[-500:]
        upgrade, _ = seconds(
            [
                "-W",
                "ignore",
                "-c",
                UPGRADE
                % [
                    "--intree",
                    tree,
                    "--outtree",
                    out,
                    "--reportfile",
                    os.path.join(folder, "report"),
                ],
            ]
        )
        second, _ = seconds(migrate + [tree])
    return {"start": start, "migrate": max(first, second), "upgrade": upgrade}
