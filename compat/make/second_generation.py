"""Writes the table SECOND_GENERATION: the names that only TensorFlow 2 has.

python -m compat.make.second_generation PYTHON...

Each PYTHON is one of an environment with a TensorFlow 1: 1.13 and 1.15 made the list. The
names are those below ``tf`` in the installed TensorFlow, and neither below its
``tf.compat.v1`` nor below the old ``tf``.
"""

from __future__ import annotations

import sys
from typing import Iterable

from compat.make import first_generation, gone_names, tables

#: What tells no generation: strategies tell an era, and Keras is one for both.
EXCEPT = ("distribute", "keras")
#: A module of Keras, which the walk does not enter.
OF_KERAS = ("optimizers",)


def names(pythons: Iterable[str]) -> set[str]:
    """The dotted names, by the TensorFlow that is installed and old ones."""
    second, first = gone_names.public(sys.executable)
    found = second.difference(first, *[gone_names.public(python)[1] for python in pythons])
    found = {name for name in found if not first_generation.below(name, EXCEPT)}.union(OF_KERAS)
    return {name for name in found if not first_generation.below(name.rpartition(".")[0], found)}


def main(pythons: list[str]) -> int:
    """Writes the table; returns 0, or 2 without environments."""
    if not pythons:
        print(__doc__)
        return 2
    tables.write("SECOND_GENERATION", tables.of_modules(names(pythons)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
