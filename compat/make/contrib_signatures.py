"""Writes tests/tools/migrate/cases/signatures_1_15.txt from the installed TensorFlow 1.15.

    python -m compat.make.contrib_signatures

A line per name of ``tf.contrib`` that has a successor (`tpudist.surfaces.leads`): its
parameters, ``name`` or ``name=default``. What is no function or class has none.
"""

import importlib
import inspect
import os
import warnings

from tpudist import surfaces
from tpudist.surfaces import leads

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLACE = os.path.join(ROOT, "tests", "migrate", "cases", "signatures_1_15.txt")
HEAD = "# Written by: python -m compat.make.contrib_signatures, on TensorFlow 1.15\n"


def parameters(value):
    """The parameters of a function or class, None of anything else."""
    function = value.__init__ if inspect.isclass(value) else value
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if inspect.isclass(value):
        found = found[1:]
    return [_spelled(each) for each in found]


def _spelled(parameter):
    star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    if parameter.default is parameter.empty:
        return star + parameter.name
    plain = isinstance(parameter.default, (bool, int, float, str, type(None)))
    return "%s=%s" % (parameter.name, str(parameter.default).replace(" ", "_") if plain else "?")


def read(path):
    """The object of a dotted name below ``tensorflow``."""
    module, _, name = path.rpartition(".")
    try:
        value = importlib.import_module("tensorflow")
        for word in path.split("."):
            value = getattr(value, word)
        return value
    except AttributeError:
        return getattr(importlib.import_module("tensorflow." + module), name)


def main():
    """Writes the file."""
    warnings.simplefilter("ignore")
    rows = []
    for module, names in sorted(surfaces.CONTRIB_NAMES.items()):
        for name in sorted(names):
            path = "%s.%s" % (module, name)
            if path in surfaces.MOVED or leads.successor(path):
                found = parameters(read(path))
                if found is not None:
                    rows.append([path] + found)
    with open(PLACE, "w") as file:
        file.write(HEAD)
        file.writelines(" ".join(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
