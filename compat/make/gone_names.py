"""Writes the list of public names of old releases that are gone today.

python -m compat.make.gone_names PYTHON...

Each PYTHON is one of an environment with an old TensorFlow: 1.13, 2.0, 2.2, 2.4, 2.5, 2.8
and 2.15 made the list. Their public names are read off the modules of their API; what is
not below ``tf`` in the installed TensorFlow, a 2.16 or newer with Keras 3, is a line of
the list:

    NAME tf,v1                 where the old releases had it: ``tf``, ``tf.compat.v1``

A name that TensorFlow 1 alone has (FIRST_GENERATION) is not in the list.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Iterable, Iterator

from compat.make.first_generation import is_there
from tests import ROOT
from tpudist.surfaces.eras import names as era_names

LIST = pathlib.Path(ROOT) / "tests/tools/migrate/cases/gone_names.lst"
#: Run by an old release; prints [[names below tf], [names below tf.compat.v1]].
_WALK = r"""
import inspect, json, sys
import tensorflow as tf

PRIVATE = {"compat", "python", "core", "compiler", "tools", "contrib", "include", "estimator"}
API = ("_api", "summary", "keras.api", "_core.keras", "tensorflow.keras")

def walk(module, above, found):
    for word in dir(module):
        name = (above + "." + word).lstrip(".")
        if word.startswith("_") or name in PRIVATE:
            continue
        try:
            value = getattr(module, word)
        except Exception:
            continue
        found.add(name)
        if inspect.ismodule(value) or hasattr(value, "__path__"):
            own = getattr(value, "__name__", "")
            if word != "compat" and name.count(".") < 6 and any(each in own for each in API):
                walk(value, name, found)
    return found

roots = [tf] if tf.__version__ >= "2" else []
roots.append(tf.compat.v1 if tf.__version__ >= "2" else tf)
print("\n" + json.dumps([sorted(walk(root, "", set())) for root in roots]))
"""


def public(python: str) -> tuple[set[str], set[str]]:
    """The public names below ``tf`` and ``tf.compat.v1`` of an environment's TensorFlow."""
    quiet = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    told = subprocess.run(
        [python, "-W", "ignore", "-c", _WALK], env=quiet, check=True, stdout=subprocess.PIPE
    )
    found = json.loads(told.stdout.decode().splitlines()[-1])
    return set(found[0]) if len(found) > 1 else set(), set(found[-1])


def lines(pythons: Iterable[str]) -> Iterator[str]:
    """The lines of the list."""
    import tensorflow as tf

    both = [public(python) for python in pythons]
    second, first = (set().union(*[each[index] for each in both]) for index in (0, 1))
    for name in sorted(second | first):
        if not is_there(tf, name) and not era_names.is_first_generation(name):
            where = [each for each, had in (("tf", second), ("v1", first)) if name in had]
            yield "%s %s" % (name, ",".join(where))


def main(pythons: list[str]) -> int:
    """Writes the list; returns 0, or 2 without environments."""
    if not pythons:
        print(__doc__)
        return 2
    LIST.write_text("".join(line + "\n" for line in lines(pythons)), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
