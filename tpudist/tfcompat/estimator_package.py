"""The package tensorflow-estimator on TensorFlow 2.16 and newer, which has no ``tf.estimator``.

Its last release, 2.15.0, asks for one attribute and four private modules that TensorFlow no longer
has: the names of its exported API, and what only TPU embeddings and the distribute coordinator of
TensorFlow 1 used. It is given these, and is then what it was on 2.15.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from typing import TYPE_CHECKING

from tensorflow.python.util import tf_export

if TYPE_CHECKING:
    from types import ModuleType

#: What pip installs it by: pure Python, which asks for no TensorFlow.
REQUIREMENT = "tensorflow-estimator==2.15.0"

_ABSENT = (
    *("distribute.estimator_training", "tpu.session_support"),
    *("tpu.tpu_embedding", "tpu.tpu_embedding_gradient"),
)


def load() -> ModuleType | None:
    """Imports the package's ``tf.compat.v1.estimator``; None if it is not installed."""
    if importlib.util.find_spec("tensorflow_estimator") is None:
        return None
    tf_export.ESTIMATOR_API_NAME = "estimator"
    for names, end in ((tf_export.API_ATTRS, ""), (tf_export.API_ATTRS_V1, "_v1")):
        kind = type(names["tensorflow"])
        own = kind("_estimator_api_names" + end, "_estimator_api_constants" + end)
        names.setdefault("estimator", own)
    for name in _ABSENT:
        full = "tensorflow.python." + name
        if full not in sys.modules:
            _make(full)
    return api("compat.v1")


def api(generation: str) -> ModuleType:
    """The package's ``tf.estimator`` as "compat.v1" or "compat.v2" has it."""
    name = "tensorflow_estimator.python.estimator.api._%s.estimator" % generation[-2:]
    return importlib.import_module(name)


class _Gone:
    """Stands for a class of TPU embeddings, of which there are no objects."""


def _make(full: str) -> None:
    """Makes a module whose names are classes without objects, and a coordinator that never runs."""
    module = types.ModuleType(full)

    def find(name: str) -> object:
        if name.startswith("__"):
            raise AttributeError("module %r has no attribute %r" % (full, name))
        return (lambda config: False) if name == "should_run_distribute_coordinator" else _Gone

    module.__getattr__ = find  # type: ignore[method-assign]
    sys.modules[full] = module
    above, _, last = full.rpartition(".")
    setattr(importlib.import_module(above), last, module)
