"""Writes the table CONTRIB_HOMES from the newest TensorFlow and its packages.

    python -m compat.make.contrib_homes

With the extra ``legacy`` installed. A row per module of ``tf.contrib`` and module that
carries it on (HOMES): its name, the names that are found there, and the other's name, as a
program reads them: ``tf_slim.layers``, after an import of ``tf_slim``, is not the module that an
import of ``tf_slim.layers`` finds.
"""

import functools
import importlib
import os
import types
import warnings

from compat.make import tables
from tpudist import surfaces

_FUTURE = ("absolute_import", "division", "print_function")


def rows():
    """{(module of contrib, what carries it on): names}, sorted."""
    found, seen = {}, set()
    for module, known in surfaces.CONTRIB_NAMES.items():
        for home, value in _homes(module):
            if home.startswith("tensorflow.python.") and not known:
                continue  # HOMES says it of all its names
            for name in sorted(known or _public(value)):
                spelled = _spelled(home, value, name)
                if spelled and (module, name) not in seen:
                    seen.add((module, name))
                    found.setdefault((module, spelled), []).append(name)
    return found


def _homes(module):
    """(full name, module) of the modules that the drop-in namespace finds names in."""
    parent, _, name = module.rpartition(".")
    if module in surfaces.LEADS:
        home = "compat.v1." + surfaces.LEADS[module]
        pairs = [("tensorflow." + home, _attribute(_module("tensorflow"), home))]
    elif module in surfaces.HOMES:
        pairs = [(home, _module(home)) for home in surfaces.HOMES[module].split()]
    else:
        above = surfaces.HOMES.get(parent, "").split()
        pairs = [(home + "." + name, _attribute(_module(home), name)) for home in above]
        pairs = [(home, value or _module(home)) for home, value in pairs]
    return [(home, value) for home, value in pairs if isinstance(value, types.ModuleType)]


def _attribute(value, dotted):
    return functools.reduce(lambda each, word: getattr(each, word, None), dotted.split("."), value)


def _module(home):
    try:
        return importlib.import_module(home)
    except ImportError:
        return None


def _public(module):
    """Names of a module, of which no list of 1.15 says more: those of its own package."""
    package = module.__name__.partition(".")[0]
    for name, value in vars(module).items():
        own = value if isinstance(value, types.ModuleType) else None
        whose = own.__name__ if own else getattr(value, "__module__", None) or package
        if not name.startswith("_") and name not in _FUTURE and whose.startswith(package):
            yield name


def _spelled(home, module, name):
    """The module by which a program reads a name of a home, "" if it has none.

    With a "!" before it, the one to import it from: no attribute of its package leads there.
    """
    if not hasattr(module, name):
        return ""
    value, package = getattr(module, name), home.partition(".")[0]
    if package == "tensorflow":
        return home
    above = home.rpartition(".")[0] or home
    for spelled in (home.replace(".python.", "."), above, package):
        try:
            words = (spelled + "." + name).split(".")[1:]
            read = functools.reduce(getattr, words, importlib.import_module(package))
        except AttributeError:
            continue
        if read is value:
            return spelled
    return "!" + home


def main():
    """Writes the table."""
    warnings.simplefilter("ignore")
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    importlib.import_module("tf_slim.nets")
    found = sorted(rows().items())
    made = ("%s: %s | %s" % (module, " ".join(names), home) for (module, home), names in found)
    tables.write("CONTRIB_HOMES", made)


if __name__ == "__main__":
    main()
