"""Names below ``tf.contrib`` that the installed TensorFlow does not have.

Where the table (:mod:`tpudist.surfaces.leads`) leads them.
"""

from __future__ import annotations

import contextlib
import functools
import types
from typing import Any

from tpudist import surfaces
from tpudist.dropin import exports, private_modules
from tpudist.surfaces import leads


def is_below(path: str) -> bool:
    """Whether a dotted name is below ``tf.contrib``."""
    return path.startswith("contrib.")


def find(path: str, top: object) -> list[Any]:
    """[what a name of contrib leads to], or [] if nowhere here; `top` is the era's ``tf``."""
    public = leads.public_name(path)
    if is_module(path) and not is_name(public):
        public = path
    for spelled in dict.fromkeys((path, public)):
        if spelled in surfaces.WRITTEN:
            return [exports.load(surfaces.WRITTEN[spelled])]
        lead = surfaces.LEADS.get(spelled) or surfaces.MOVED.get(spelled)
        modules = _attribute(top, lead) if lead else []
        if not modules and spelled != path:
            modules = _attribute(top, spelled)
        if modules:
            return modules
    return [] if is_module(path) else homes(path)[:1]


def _attribute(owner: Any, dotted: str) -> list[Any]:
    module, _, name = dotted.rpartition(".")
    if private_modules.is_private(dotted):  # Attributes of packages may be other modules.
        owner = private_modules.import_or_none("%s.%s" % (owner.__name__, module))
        dotted = name
    try:
        return [functools.reduce(getattr, dotted.split("."), owner)]
    except AttributeError:
        module_itself = private_modules.import_or_none("tensorflow.%s.%s" % (module, name))
        return [] if module_itself is None else [module_itself]


def homes(path: str) -> list[types.ModuleType]:
    """The modules that carry a module of contrib on, those that are installed."""
    return [module for name in _home_names(path) for module in _imported(name)]


def private_homes(path: str) -> list[str]:
    """Those of TensorFlow's private packages, as dotted names below ``tensorflow``."""
    names = [name.partition(".")[2] for name in _home_names(path) if name.startswith("tensorflow.")]
    return [name for name in names if private_modules.is_private(name)]


def _home_names(path: str) -> list[str]:
    """The full names of the modules that carry a module of contrib on."""
    parent, _, name = path.rpartition(".")
    if path in surfaces.HOMES or parent not in surfaces.HOMES:
        return surfaces.HOMES.get(path, "").split()
    return ["%s.%s" % (home, name) for home in surfaces.HOMES[parent].split()]


def _imported(name: str) -> list[types.ModuleType]:
    """The modules that have the names of one; none of a package that TensorFlow is too new for."""
    package, _, dotted = name.partition(".")
    if package == "tensorflow":
        return private_modules.homes(dotted)
    with contextlib.suppress(AttributeError):
        module = private_modules.import_or_none(name)
        return [] if module is None else [module]
    return []


def is_module(path: str) -> bool:
    """Whether 1.15's contrib had such a module."""
    return path in surfaces.CONTRIB_NAMES or path in surfaces.HOMES


def is_name(path: str) -> bool:
    """Whether 1.15's contrib had such a name, in the module itself or in its package.

    Of a module with a private path, any name may be; the list has none of them.
    """
    modules = surfaces.CONTRIB_NAMES
    owner, _, name = path.rpartition(".")
    if name in modules.get(owner, ()):
        return True
    public, _, _ = leads.public_name(path).rpartition(".")
    if name in modules.get(public, ()):
        return True
    return owner != public and owner in modules and not name.startswith("_")
