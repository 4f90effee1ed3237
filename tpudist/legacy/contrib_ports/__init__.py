"""Names of ``tf.contrib`` that training code uses and no package keeps, written again.

Each does what TensorFlow 1.15's did; the tests compare them with it. Migrated programs import
them from here. To change: what such a name does. Which names there are is in the table
(`tpudist.surfaces.leads`).
"""

from __future__ import annotations

import importlib
from typing import Any

from tpudist import surfaces

_TARGETS = {old.rpartition(".")[2]: target for old, target in surfaces.WRITTEN.items()}


def __getattr__(name: str) -> Any:
    if name not in _TARGETS:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    module, _, attribute = _TARGETS[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_TARGETS))
