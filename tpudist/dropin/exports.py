"""Loads the objects that the table's targets name, when they are first used."""

from __future__ import annotations

import functools
import importlib
import sys
from types import ModuleType
from typing import Any, Callable

from tpudist import surfaces


def load(target: str) -> object:
    """The object that a target of the table names: ``module:attribute``, which may be dotted.

    Raises:
      MissingTensorFlowError: TensorFlow cannot be imported.
    """
    module, _, attribute = target.partition(":")
    value = tensorflow() if module == "tensorflow" else importlib.import_module(module)
    return functools.reduce(getattr, attribute.split("."), value)


def tensorflow() -> ModuleType:
    """The installed TensorFlow; without one a `MissingTensorFlowError` says what to install."""
    from tpudist.tfcompat import versions  # Raises if there is none.

    del versions
    return importlib.import_module("tensorflow")


def lazy_exports(package: str, era: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``(__getattr__, __dir__)`` of an era's package, of that ``__name__`` (PEP 562).

    Names of ``surfaces.EXPORTS`` are loaded when first used, others are tried as submodules.
    """
    exports = surfaces.EXPORTS[era]

    def __getattr__(name: str) -> object:
        module = sys.modules[package]
        if name in exports:
            value = load(exports[name])
            setattr(module, name, value)
            return value
        if not name.startswith("_"):
            submodule = package + "." + name
            try:
                return importlib.import_module(submodule)
            except ModuleNotFoundError as error:
                if error.name != submodule:
                    raise
        raise AttributeError("module %r has no attribute %r" % (package, name))

    def __dir__() -> list[str]:
        return sorted(set(vars(sys.modules[package])) | set(exports))

    return __getattr__, __dir__
