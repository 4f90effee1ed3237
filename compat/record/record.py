"""Records what the programs print on the native TensorFlow of their era.

    python -m compat.record.record [PROGRAM ...]

To be run from the root of a checkout by a Python that has that TensorFlow:
1.12 (Python 3.6) for contrib, 1.15 for its last form, 2.0 and 2.2 for theirs.
Writes ``compat/record/recorded/PROGRAM.json``. tpudist is not imported.
"""

import datetime
import functools
import importlib
import json
import os
import platform
import sys

import numpy as np
import tensorflow as tf

from compat.record import native

HERE = os.path.dirname(os.path.abspath(__file__))

#: {era of a program: (release that records it, strategy, graphs?)}
ORACLES = {
    "contrib": ("1.12", native.contrib, True),
    "contrib_1_15": ("1.15", native.mirrored, True),
    "v2_0": ("2.0", native.mirrored, False),
    "v2_2": ("2.2", native.mirrored, False),
}


def names():
    """The programs, by name."""
    return sorted(
        name[:-3]
        for name in os.listdir(os.path.join(HERE, "programs"))
        if name.endswith(".py") and not name.startswith("_")
    )


def load(name):
    """The module of a program."""
    return importlib.import_module("compat.record.programs." + name)


def plain(value):
    """`value`, a nest of arrays and numbers, as JSON has it."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return np.asarray(value).tolist()


def output(program, tensorflow, strategy, run):
    """What a program shows: a list of [what, value]."""
    shown = []
    program.main(tensorflow, strategy, run, lambda what, value: shown.append([what, plain(value)]))
    return shown


def in_session(tensorflow, main):
    """Calls ``main(run)`` in a graph; `run` fetches from its one Session."""
    v1 = getattr(tensorflow.compat, "v1", tensorflow)  # 1.12 has no v1
    with v1.Graph().as_default():
        session = v1.Session(config=v1.ConfigProto(device_count={"CPU": native.CORES}))
        known = []

        def run(fetches):
            new = [variable for variable in v1.global_variables() if variable not in known]
            known.extend(new)
            session.run(v1.variables_initializer(new))
            return session.run(fetches)

        with session:
            return main(run)


def main(argv):
    """Records the programs of the era of this TensorFlow; the exit code."""
    for name in argv or names():
        program = load(name)
        release, make, graphs = ORACLES[program.ERA]
        if not tf.__version__.startswith(release + "."):
            print("%s: skipped, it is of TensorFlow %s" % (name, release))
            continue
        strategy = make(tf)
        call = functools.partial(output, program, tf, strategy)
        shown = in_session(tf, call) if graphs else call(numpy_of)
        _write(
            name,
            {
                "program": name,
                "tensorflow": tf.__version__,
                "wheel": "tensorflow",
                "python": platform.python_version(),
                "strategy": type(strategy).__name__,
                "replicas": native.CORES,
                "date": datetime.date.today().isoformat(),
                "output": shown,
            },
        )
        print("%s: %d values" % (name, len(shown)))
    return 0


def numpy_of(fetches):
    """The numbers of a nest of eager tensors."""
    return tf.nest.map_structure(
        lambda leaf: leaf.numpy() if hasattr(leaf, "numpy") else leaf, fetches
    )


def _write(name, record):
    path = os.path.join(HERE, "recorded", name + ".json")
    with open(path + ".new", "w") as file:
        json.dump(record, file, indent=1, sort_keys=True)
        file.write("\n")
    os.replace(path + ".new", path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
