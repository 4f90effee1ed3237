"""Writes the table CONTRIB_NAMES from the installed TensorFlow 1.15.

    python -m compat.make.contrib_names

A row per module of ``tf.contrib``: its dotted name, then its public names. Modules that
only list another's names are left out, and so are the many of a private path: those are
rows without names.
"""

import importlib
import inspect
import os
import types
import warnings

from compat.make import tables

#: Raw ops, copies of other modules, and what is no part of training code.
_LEFT_OUT = ("keras", "quantization", "labeled_tensor", "specs", "grid_rnn", "lite", "autograph")
_FUTURE = ("absolute_import", "division", "print_function")


def public(contrib):
    """{module: names} of ``tf.contrib.<module>``, and of modules below those."""
    found = {}
    for name, module in modules(contrib):
        if name in _LEFT_OUT:
            continue
        found["contrib." + name] = own_names(module)
        for below, inner in modules(module):
            if below not in ("python", "ops"):
                inside = own_names(inner) + [each for each, _ in modules(inner)]
                found["contrib.%s.%s" % (name, below)] = inside
    return found


def modules(package):
    """(name, module) of the modules of contrib that a package has."""
    for name in sorted(dir(package)):
        value = getattr(package, name, None)
        if isinstance(value, types.ModuleType) and ".contrib." in value.__name__:
            if not name.startswith("_"):
                yield name, value


def own_names(module):
    """Names of a module that are no modules."""
    names = [name for name in sorted(dir(module)) if not name.startswith("_")]
    return [
        name
        for name in names
        if name not in _FUTURE and not inspect.ismodule(getattr(module, name, module))
    ]


def deep(root):
    """Dotted names of the modules in files below contrib, tests left out."""
    for folder, _, files in os.walk(root):
        package = os.path.relpath(folder, os.path.dirname(root)).replace(os.sep, ".")
        for file in files:
            if file.endswith(".py") and "test" not in file and "test" not in package:
                yield package if file == "__init__.py" else "%s.%s" % (package, file[:-3])


def main():
    """Writes the table."""
    warnings.simplefilter("ignore")
    import tensorflow as tf

    contrib = tf.contrib
    importlib.import_module("tensorflow.contrib.slim.nets")
    found = {name: [] for name in deep(os.path.dirname(contrib.__file__))}
    found = {name: [] for name in found if name.split(".")[1:2] not in [[n] for n in _LEFT_OUT]}
    found.update(public(contrib))
    rows = (" ".join([name + ":"] + sorted(names)) for name, names in sorted(found.items()))
    tables.write("CONTRIB_NAMES", rows)


if __name__ == "__main__":
    main()
