"""Runs a program of TensorFlow 2 and writes down what its steps returned, and took.

    python -m compat.make.programs_equal_watch HOW TPU OUT FILE [ARGUMENT ...]

HOW is "virtual" (``tpudist run --tpu TPU FILE``), "mirrored" (plain TensorFlow, whose
MirroredStrategy has a logical CPU for each core) or "plain" (its OneDeviceStrategy; what the file
reads of the strategy's number of replicas is that of TPU). All are seeded alike
(:mod:`compat.make.seeded`). OUT is a file of JSON: the floats that each function which the program
calls returned, the trainable variables at the end, and the CPU seconds of the calls.
"""

import functools
import gc
import json
import os
import resource
import runpy
import sys

from compat.make import seeded

#: What a program of 2.0 calls, and MirroredStrategy no longer has.
_OLDER = {"experimental_run_v2": "run"}


class Watch:
    """What functions and Sessions' runs returned and took; calls inside of calls are not seen."""

    def __init__(self):
        self.calls = {}
        self._depth = 0

    def wrap(self, owner, method, name_of):
        """Watches a method of a class.

        Args:
          owner: the class.
          method: its method's name.
          name_of: gives a call a name, of the object and the first argument.
        """
        original = getattr(owner, method)

        @functools.wraps(original)
        def watched(this, *args, **kwargs):
            if self._depth:
                return original(this, *args, **kwargs)
            self._depth += 1
            before = _cpu_seconds()
            try:
                result = original(this, *args, **kwargs)
            finally:
                self._depth -= 1
            call = {"seconds": _cpu_seconds() - before, "floats": _floats(result)}
            self.calls.setdefault(name_of(this, *args[:1]), []).append(call)
            return result

        setattr(owner, method, watched)


def _cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _floats(result):
    """{place: number} of the floating-point scalars in what a function returned."""
    import numpy
    import tensorflow as tf
    from tensorflow.python.util import nest

    found = {}
    for path, each in nest.flatten_with_joined_string_paths(result):
        is_tensor = tf.is_tensor(each) and hasattr(each, "numpy")
        value = each.numpy() if is_tensor else each
        if isinstance(value, (float, numpy.floating)) and numpy.ndim(value) == 0:
            found[path] = float(value)
    return found


def _variables():
    """{name: sums of the absolute values} of the trainable variables that are alive."""
    import numpy
    import tensorflow as tf

    found = {}
    for each in gc.get_objects():
        try:
            if not isinstance(each, tf.Variable) or not each.trainable or "/replica_" in each.name:
                continue
            value = float(numpy.abs(each.numpy()).sum())
        except Exception:  # a weak reference, or a variable of a graph that is gone  # noqa: BLE001
            continue
        found.setdefault(each.name.split(":")[0], set()).add(value)
    return {name: sorted(values) for name, values in found.items()}


def _on_one_device():
    """Replaces the TPU's names by those of the one device that there is."""
    import tensorflow as tf

    seeded.mirror(1)

    class Strategy(tf.distribute.OneDeviceStrategy):
        def __init__(self, *args, **kwargs):
            super().__init__("CPU:0")

    for each in (tf, tf.compat.v1, tf.compat.v2):
        each.distribute.TPUStrategy = each.distribute.experimental.TPUStrategy = Strategy


def main(arguments):
    """Runs what the arguments name."""
    how, tpu, out, file, *rest = arguments
    seeded.seed()
    import tensorflow as tf
    from tensorflow.python.eager.polymorphic_function import polymorphic_function

    watch = Watch()
    watch.wrap(polymorphic_function.Function, "__call__", lambda f, *_: f._python_function.__name__)
    try:
        if how == "virtual":
            sys.argv = ["tpudist", "run", "--tpu", tpu, file, *rest]
            runpy.run_module("tpudist", run_name="__main__", alter_sys=True)
        else:
            if how == "mirrored":
                seeded.mirror(int(tpu.partition(":")[2]))
            else:
                _on_one_device()
            for old, new in _OLDER.items():
                setattr(tf.distribute.Strategy, old, getattr(tf.distribute.Strategy, new))
            sys.argv = [file, *rest]
            sys.path[0] = os.path.dirname(os.path.abspath(file))
            scope = runpy.run_path(file, run_name="__main__")
            del scope
    finally:
        with open(out, "w", encoding="utf-8") as written:
            json.dump({"calls": watch.calls, "variables": _variables()}, written)


if __name__ == "__main__":
    main(sys.argv[1:])
