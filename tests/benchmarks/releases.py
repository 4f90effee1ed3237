"""What ``tpudist matrix`` adds to the runs of pytest that it makes."""

import os
import statistics
import subprocess
import sys
import tempfile
import time

from tests.benchmarks import processes
from tpudist.toolbox import table
from tpudist.tools.matrix import environments, running

#: A project's tests: one step of a small net on the virtual TPU.
TESTS = """
import numpy as np
from tpudist.v2_2 import tensorflow as tf


def test_step():
    with tf.Graph().as_default():
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:8")
        strategy = tf.distribute.TPUStrategy(resolver)
        with strategy.scope():
            weights = tf.compat.v1.get_variable(
                "w", [], initializer=tf.compat.v1.ones_initializer())
        loss = strategy.run(lambda: weights * 2.0)
        total = strategy.reduce("SUM", loss, axis=None)
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            np.testing.assert_allclose(session.run(total), 16.0)
"""


def ratio(releases, rounds):
    """Median of (``tpudist matrix`` on cached releases / sum of bare pytest runs).

    Both are measured in turn, in environments made before; uv makes them from
    the registry of packages.

    Args:
      releases: names of the table of releases.
      rounds: how often both are measured.
    """
    with tempfile.TemporaryDirectory() as folder:
        project = os.path.join(folder, "project")
        os.mkdir(project)
        with open(os.path.join(project, "test_step.py"), "w") as file:
            file.write(TESTS)
        matrix = [
            sys.executable,
            "-m",
            "tpudist",
            "matrix",
            "--releases",
            ",".join(releases),
            "--project",
            project,
            "--cache",
            folder,
        ]
        _seconds(matrix, processes.environment(), project)
        bare = [
            _bare(row, environments.of_project(folder, project))
            for row in table.select(table.read(), ",".join(releases))
        ]
        tested = matrix + ["--", "pytest", project]
        return statistics.median(
            _seconds(tested, processes.environment(), project)
            / sum(_seconds([program, project], environ, project) for program, environ in bare)
            for _ in range(rounds)
        )


def _bare(row, kept):
    """(pytest, variables) of a release's environment."""
    folder = os.path.join(kept, row.release)
    made = environments.Environment(folder, row.release, row.python)
    return (
        os.path.join(made.scripts, "pytest"),
        dict(processes.environment(), **running.variables(made, row, "virtual:8")),
    )


def _seconds(command, environ, folder):
    start = time.perf_counter()
    subprocess.run(command, check=True, cwd=folder, env=environ, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
