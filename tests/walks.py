"""Counts what of tpudist a user's call runs through, from its first function to its last.

    python -m tests.walks [WALK ...]

prints a row for each walk: its calls of tpudist's functions, the different functions and files,
and the pairs of files that call each other both ways. Commands are counted when their modules
have been imported.
"""

import collections
import contextlib
import io
import os
import sys
import tempfile
import threading

from tpudist import machine

#: A file of 2018, to be rewritten for TensorFlow 2.
LEGACY = """\
import tensorflow as tf

resolver = tf.contrib.cluster_resolver.TPUClusterResolver("name")
strategy = tf.contrib.distribute.TPUStrategy(resolver)
with strategy.scope():
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    loss = tf.losses.mean_squared_error
iterator = strategy.make_dataset_iterator(tf.data.Dataset.range(8).batch(8))
print(strategy.unwrap(strategy.call_for_each_tower(lambda: tf.constant(1.0))))
"""

SCRIPT = """\
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("name")
strategy = tf.distribute.experimental.TPUStrategy(resolver)
"""


class Walk:
    """Counts the functions of tpudist that are called in a ``with`` block, in all threads."""

    def __init__(self):
        self.calls = collections.Counter()
        self._pairs = set()

    def __enter__(self):
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *unused_error):
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame, event, unused_argument):
        code = frame.f_code
        if event != "call" or not _is_ours(code) or code.co_name.startswith("<"):
            return
        self.calls[code] += 1
        caller = frame.f_back
        while caller is not None and not _is_ours(caller.f_code):
            caller = caller.f_back
        if caller is not None:
            self._pairs.add((caller.f_code.co_filename, code.co_filename))

    def row(self):
        """(calls, functions, files, pairs of files that call each other both ways)."""
        files = {code.co_filename for code in self.calls}
        both = {pair for pair in self._pairs if pair[::-1] in self._pairs and pair[0] < pair[1]}
        return sum(self.calls.values()), len(self.calls), len(files), len(both)


def _is_ours(code):
    return code.co_filename.startswith(machine.PACKAGE + os.sep)


def first_run():
    """The first ``strategy.run`` of 2.2, with a gradient that the replicas sum, on 8 cores."""
    from tpudist.v2_2 import tensorflow as tf

    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:8")
    strategy = tf.distribute.experimental.TPUStrategy(resolver)
    with strategy.scope():
        weight = tf.Variable(1.0)

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(x * weight)
        gradient = tape.gradient(loss, weight)
        total = tf.distribute.get_replica_context().all_reduce("SUM", gradient)
        weight.assign_sub(0.1 * total)
        return loss

    with Walk() as walk:
        tf.function(lambda x: strategy.run(step, args=(x,)))(tf.ones([4]))
    return walk


def contrib_loop():
    """``run_steps_on_dataset`` of contrib with an optimizer's step, in a graph, on 8 cores."""
    from tpudist.contrib import tensorflow as tf

    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("virtual:8")
    with tf.Graph().as_default():
        strategy = tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=2)
        with strategy.scope(), Walk() as walk:
            data = strategy.distribute_dataset(lambda: tf.data.Dataset.range(99).batch(4))
            weight = tf.get_variable("w", initializer=1.0)
            optimizer = tf.train.GradientDescentOptimizer(0.1)

            def step(context, x):
                def replica(x):
                    return optimizer.minimize(tf.reduce_sum(tf.to_float(x)) * weight)

                return strategy.group(strategy.call_for_each_tower(replica, x))

            strategy.run_steps_on_dataset(step, data.make_one_shot_iterator(), iterations=2)
    return walk


def tpu_estimator():
    """``TPUEstimator.train`` of two steps, on 8 cores."""
    from tpudist.contrib import tensorflow as tf

    tf.logging.set_verbosity("ERROR")

    def model_fn(features, labels, mode, params):
        loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
        optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
        train = optimizer.minimize(loss, tf.train.get_or_create_global_step())
        return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train)

    def input_fn(params):
        rows = tf.data.Dataset.from_tensors((tf.ones([2]), tf.ones([1]))).repeat()
        return rows.batch(params["batch_size"], drop_remainder=True)

    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("virtual:8")
    with tempfile.TemporaryDirectory() as folder:
        config = tf.contrib.tpu.RunConfig(cluster=resolver, model_dir=folder)
        estimator = tf.contrib.tpu.TPUEstimator(model_fn, config=config, train_batch_size=16)
        with Walk() as walk:
            estimator.train(input_fn, max_steps=2)
    return walk


def run_script():
    """``tpudist run`` of a script that makes a strategy of 2.0."""
    return _command(SCRIPT, "run", "--tpu", "virtual:8", "{file}")


def migrate_file():
    """``tpudist migrate --diff`` of a file of nine lines."""
    return _command(LEGACY, "migrate", "--to", "latest", "--diff", "{file}")


def _command(text, *words):
    from tpudist import cli

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "train.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        for walk in (Walk(), Walk()):
            with contextlib.redirect_stdout(io.StringIO()), walk:
                cli.main([word.format(file=path) for word in words])
    return walk


WALKS = {
    "first run of 2.2": first_run,
    "contrib's loop": contrib_loop,
    "TPUEstimator.train": tpu_estimator,
    "tpudist run": run_script,
    "migrate": migrate_file,
}


def main(names):
    """Prints the walks' rows."""
    from tests.helpers import v2_behavior  # noqa: F401 (it switches)

    print("%-20s %7s %9s %5s %9s" % ("walk", "calls", "functions", "files", "both ways"))
    for name in names or WALKS:
        print("%-20s %7d %9d %5d %9d" % (name, *WALKS[name]().row()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
