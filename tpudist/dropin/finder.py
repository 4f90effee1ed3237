"""Imports of modules below a drop-in: ``import tpudist.v2_2.tensorflow.keras``."""

from __future__ import annotations

import importlib.machinery
import sys
import types
from typing import Any, Sequence

from tpudist import surfaces
from tpudist.dropin import namespace, private_modules
from tpudist.errors import EraNameError
from tpudist.surfaces import leads


def find_module(era: str, dotted: str) -> types.ModuleType | None:
    """The module that ``import tensorflow.<dotted>`` means in an era; None if there is none.

    It is a Namespace or a module of the installed TensorFlow.

    Raises:
      EraNameError: the era had such a module, and it is gone.
    """
    if private_modules.is_private(dotted):
        private = namespace.private_module(era, dotted)
        if private is None and leads.gone_prefix(dotted):
            raise namespace.missing(era, dotted)
        return private
    module: Any = namespace.top(era)
    for end, part in enumerate(dotted.split("."), 1):
        prefix = ".".join(dotted.split(".")[:end])
        native = namespace.contrib_module(era, prefix)
        if native is not None:
            module = native
            continue
        try:
            module = getattr(module, part)
        except AttributeError as error:
            module = private_modules.import_or_none("tensorflow." + prefix)
            if module is None and isinstance(error, EraNameError):
                raise
        if not isinstance(module, types.ModuleType):
            return None
    return module


class Finder:
    """Imports modules below a drop-in: ``import tpudist.v2_2.tensorflow.keras``.

    What is imported is the module that attribute access finds, never a second
    copy of one of TensorFlow's files.
    """

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """A spec for a module below a drop-in, else None."""
        parts = fullname.split(".", 3)
        is_ours = len(parts) > 3 and parts[0] == "tpudist" and parts[2] == "tensorflow"
        if not is_ours or parts[1] not in surfaces.ERAS:
            return None
        try:
            module = find_module(parts[1], parts[3])
        except EraNameError as error:
            # With `fullname` as its name, "from package import module" would
            # swallow the error.
            raise ModuleNotFoundError(str(error), name="tensorflow." + parts[3]) from None
        if module is None:
            return None
        spec: Any = importlib.machinery.ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]
        spec.loader_state = module
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Python makes the placeholder that `exec_module` replaces."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Replaces the new module in ``sys.modules`` by the one that was found."""
        spec: Any = module.__spec__
        sys.modules[spec.name] = spec.loader_state
