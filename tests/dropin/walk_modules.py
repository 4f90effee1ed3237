"""Imports every module of the installed TensorFlow, by its name and through the hook.

Prints what the hook has otherwise, then "N modules"; exits 1 if there is something.
"""

import contextlib
import importlib
import os
import sys
import types

import tensorflow

from tpudist import surfaces
from tpudist.dropin import Namespace, namespace
from tpudist.legacy import hook
from tpudist.tfcompat import keras_packages, versions

#: Tests, commands and examples, of which some end the process that imports them.
_LEFT_OUT = ("_test", "test_", "/tests/", "/tools/", "/examples/", "/testdata/", "__main__")

#: 1.15 has two copies of tf2, and natively each kind of import binds another one. The
#: Keras of the eras is the package keras, or tf_keras, where there is one.
_OTHERS = ["tensorflow.python.tf2"]
if versions.KERAS_IS_A_PACKAGE and not keras_packages.is_keras_3():
    _OTHERS.append("tensorflow.python.keras")


def is_another(name):
    """Whether the hook has another module of that name, or one below it, than TensorFlow."""
    return any((name + ".").startswith(each + ".") for each in _OTHERS)


def names():
    """Dotted names of the private modules below the installed TensorFlow."""
    root = os.path.dirname(importlib.import_module("tensorflow.python").__file__)
    for folder, _, files in sorted(os.walk(root)):
        for file in sorted(files):
            path = os.path.relpath(os.path.join(folder, file), os.path.dirname(root))
            if path.endswith(".py") and not any(part in "/" + path for part in _LEFT_OUT):
                name = "tensorflow." + path[:-3].replace(os.sep, ".").replace(".__init__", "")
                if not is_another(name):
                    yield name


def statements(name):
    """The ways to import a module."""
    yield "import %s as found" % name
    yield "from %s import %s as found" % name.rpartition(".")[::2]
    yield "import importlib; found = importlib.import_module(%r)" % name


def users(statement):
    """What a statement in a file of the user binds."""
    scope = {"__file__": os.path.join(os.getcwd(), "users_script.py"), "__name__": "users"}
    exec(compile(statement, scope["__file__"], "exec"), scope)
    return scope["found"]


def natively(name):
    """{statement: what it binds} of the statements that work, once all were executed.

    On 1.15 the first ``import_module`` of some modules makes a second copy of them.
    """
    found = {}
    for statement in [*statements(name), *statements(name)]:
        with contextlib.suppress(BaseException):
            found[statement] = users(statement)
    return found


def same(found, native):
    """Whether an object is TensorFlow's, or a Namespace over it alone."""
    if isinstance(found, Namespace):
        names = [base.__name__ for base in namespace.bases_of(found)]
        return isinstance(native, types.ModuleType) and names == [native.__name__]
    return found is native


def differences(name, native):
    """Lines about what imports of a module give through the hook and not natively.

    Args:
      name: dotted name of the module.
      native: {statement: what it binds} without the hook.
    """
    for statement, own in native.items():
        try:
            found = users(statement)
        except BaseException as error:  # noqa: BLE001
            yield "%s: %r" % (statement, error)
            continue
        if not same(found, own):
            yield "%s: %r instead of %r" % (statement, found, own)
        elif isinstance(found, Namespace):
            yield from attributes(name, found, own)


def attributes(name, found, native):
    """Lines about attributes of a Namespace that are not the module's."""
    table = surfaces.DROPINS["v2_2"]
    for each in vars(native):
        dotted = "%s.%s" % (name.partition(".")[2], each)
        if each.startswith("__") or dotted in table or is_another("tensorflow." + dotted):
            continue
        if not same(getattr(found, each), getattr(native, each)):
            yield "%s.%s: %r" % (name, each, getattr(found, each))


def main():
    """Walks; returns the exit code."""
    found = {name: natively(name) for name in names()}
    wrong = []
    with hook.Hook("v2_2", os.getcwd()):
        for name, native in found.items():
            wrong.extend(differences(name, native))
    print("\n".join(wrong))
    print("%d modules of TensorFlow %s" % (sum(map(bool, found.values())), tensorflow.__version__))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
