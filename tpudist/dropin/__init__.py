"""The drop-in namespaces: each era's ``tf`` over the installed TensorFlow.

Names in the table (:mod:`tpudist.surfaces`) are tpudist's, all others the installed
TensorFlow's. To change: how names are found; the table lists which names there are.
"""

from __future__ import annotations

import sys
from typing import Any

from tpudist.dropin import finder, namespace
from tpudist.dropin.exports import lazy_exports, load
from tpudist.dropin.finder import find_module
from tpudist.dropin.namespace import Namespace, top

__all__ = ["Namespace", "become_namespace", "find_module", "lazy_exports", "load", "top"]


def become_namespace(module_name: str, era: str) -> None:
    """Turns the module that calls it, by its ``__name__``, into the era's ``tf``."""
    module: Any = sys.modules[module_name]
    module.__class__ = Namespace
    namespace.adopt(module, era)
    if not any(isinstance(found, finder.Finder) for found in sys.meta_path):
        sys.meta_path.insert(0, finder.Finder())
