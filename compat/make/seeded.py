"""Runs a program with the same random seeds each time: before it is migrated, or after.

    python -m compat.make.seeded before TPU FILE [ARGUMENT ...]
    python -m compat.make.seeded after TPU FILE [ARGUMENT ...]

Before, it is ``tpudist run --tpu TPU FILE``. After, it is ``python FILE`` with plain TensorFlow
and tf_keras; where MIRRORED is set, a TPU that plain TensorFlow is asked for is there as
MirroredStrategy, one logical CPU a core. tpudist is not loaded but by a program that imports it.
"""

import os
import random
import runpy
import sys
import zlib

SEED = 1


def seed():
    """Seeds Python, NumPy and every graph that has no seed of its own."""
    import numpy
    import tensorflow as tf
    from tensorflow.python.framework import ops

    seed_of = ops.Graph.seed  # an Estimator sets that of its graph to None

    def seeded(graph):
        found = seed_of.fget(graph)
        return SEED if found is None else found

    ops.Graph.seed = property(seeded, seed_of.fset)
    seed_layers()
    random.seed(SEED)
    numpy.random.seed(SEED)
    tf.random.set_seed(SEED)
    tf.get_logger().setLevel("INFO")  # where Estimators print their losses


def seed_layers():
    """Draws the initial values of layers with NumPy, by their shape.

    The layers of TensorFlow 1 draw them by an op of a graph, those of tf_keras by another one
    that is called: no seed gives both the same values.
    """
    import numpy
    import tensorflow as tf
    from tensorflow.python.ops import init_ops, init_ops_v2
    from tf_keras.src.initializers import initializers

    def values(initializer, shape, dtype=None, *args, **kwargs):
        sizes = [int(size) for size in shape]
        *_, inputs, outputs = (1, 1, *sizes)
        spread = (6 / (numpy.prod(sizes[:-2]) * (inputs + outputs))) ** 0.5
        draws = numpy.random.RandomState(zlib.crc32(repr(sizes).encode()))
        return tf.constant(draws.uniform(-spread, spread, sizes), dtype or tf.float32)

    for each in (init_ops, init_ops_v2, initializers):
        each.VarianceScaling.__call__ = values


def note_files(path):
    """Writes the names of the Python files that are read from now on into a file."""
    file = open(path, "a", encoding="utf-8")  # noqa: SIM115 (until the process ends)

    def note(event, arguments):
        if event == "open" and str(arguments[0]).endswith(".py"):
            file.write("%s\n" % os.path.abspath(arguments[0]))
            file.flush()

    sys.addaudithook(note)


def mirror(cores):
    """Replaces the TPU's names in plain TensorFlow by MirroredStrategy on logical CPUs."""
    import tensorflow as tf

    class Resolver:
        def __init__(self, *args, **kwargs):
            pass

        @staticmethod
        def connect(*args, **kwargs):
            return Resolver()

        def __getattr__(self, name):
            return lambda *args, **kwargs: ""

    class Strategy(tf.distribute.MirroredStrategy):
        def __init__(self, *args, **kwargs):
            super().__init__(["CPU:%d" % core for core in range(cores)])

    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0],
        [tf.config.LogicalDeviceConfiguration() for _ in range(cores)],
    )

    def nothing(*args, **kwargs):
        pass

    for each in (tf, tf.compat.v1, tf.compat.v2):
        each.distribute.TPUStrategy = each.distribute.experimental.TPUStrategy = Strategy
        each.distribute.cluster_resolver.TPUClusterResolver = Resolver
        each.config.experimental_connect_to_cluster = nothing
        each.config.experimental_connect_to_host = nothing
        each.tpu.experimental.initialize_tpu_system = nothing
        each.tpu.experimental.shutdown_tpu_system = nothing


def main(arguments):
    """Runs what the arguments name."""
    when, tpu, file, *rest = arguments
    seed()
    if "SEEN_FILES" in os.environ:
        note_files(os.environ["SEEN_FILES"])
    if when == "before":
        sys.argv = ["tpudist", "run", "--tpu", tpu, file, *rest]
        runpy.run_module("tpudist", run_name="__main__", alter_sys=True)
    else:
        os.environ["TPUDIST_TPU"] = tpu
        if "MIRRORED" in os.environ:
            mirror(int(tpu.partition(":")[2] or 8))
        sys.argv = [file, *rest]
        sys.path[0] = os.path.dirname(os.path.abspath(file))
        runpy.run_path(file, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
