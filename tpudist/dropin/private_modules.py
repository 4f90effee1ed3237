"""TensorFlow's private modules, by the names that old code imports them by.

What the table (:mod:`tpudist.surfaces`) says of a dotted name below
``tensorflow``, in the installed release.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    from types import ModuleType

#: Packages below ``tensorflow`` that are no public API.
_PACKAGES = ("compiler", "core", "python")


def is_private(dotted: str) -> bool:
    """Whether a dotted name is below a package that is no public API."""
    return dotted.partition(".")[0] in _PACKAGES


def homes(dotted: str) -> list[types.ModuleType]:
    """The modules that have the names of a module, the module itself if it is there.

    It is imported by its name, because the attribute may be another module: on several
    releases the attribute ``tensorflow.python.ops`` is ``framework.ops``. Keras is the era's.
    """
    from tpudist.tfcompat import keras_packages

    keras = keras_packages.private_homes(dotted)
    own = import_or_none("tensorflow." + dotted)
    if keras or own is not None:
        return keras + ([own] if own is not None else [])
    if (dotted + ".").startswith(("python.estimator.", "python.tpu.")):  # a package of its own now
        from tpudist.tfcompat import estimators

        own = estimators.private_module(dotted)
        return [own] if own is not None else []
    modules = [
        import_or_none("tensorflow." + home)
        for home in surfaces.PRIVATE_MODULES.get(dotted, "").split()
    ]
    return [module for module in modules if module is not None]


def is_complete(era: str, dotted: str, module: types.ModuleType) -> bool:
    """Whether TensorFlow's own module, and no package, has every name of the table."""
    if hasattr(module, "__path__") or has_names_below(era, dotted):
        return False
    return all(hasattr(module, name) for name in surfaces.PRIVATE_MEMBERS.get(dotted, ()))


def has_names_below(era: str, dotted: str) -> bool:
    """Whether the table has modules below a package, or names of an era in a module."""
    tables = (surfaces.PRIVATE_MODULES, surfaces.PRIVATE_MEMBERS, surfaces.DROPINS[era])
    return any(key.startswith(dotted + ".") for table in tables for key in table)


def is_module_named(module: object, path: str) -> bool:
    """Whether an object is the module of a dotted name, not another under that attribute."""
    return isinstance(module, types.ModuleType) and module.__name__.partition(".")[2] == path


def behind_a_stub(stub: types.ModuleType, name: str) -> list[object]:
    """[what a module of the same last name has], for a private name that ``import *`` left there.

    Old paths, such as ``contrib.tpu.python.tpu.tpu_context``, are files that import all public
    names of the module that moved.
    """
    if not name.startswith("_") or name.startswith("__"):
        return []
    last = "." + stub.__name__.rpartition(".")[2]
    homes = {str(getattr(value, "__module__", "")) for value in list(vars(stub).values())}
    modules = [sys.modules.get(home) for home in sorted(homes) if home.endswith(last)]
    return [getattr(module, name) for module in modules if hasattr(module, name)][:1]


def is_import(name: str, value: object) -> bool:
    """Whether an attribute is set because Python imported a module of that full name."""
    return value is not None and value is sys.modules.get(name)


def import_or_none(name: str) -> ModuleType | None:
    """The module of that full name, or None where there is none.

    What is below ``tensorflow.compat`` has it as an attribute. Until 2.2 an import makes a second
    copy of all of these modules there, and puts it in the first one's place.
    """
    if name.startswith("tensorflow.compat."):
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
