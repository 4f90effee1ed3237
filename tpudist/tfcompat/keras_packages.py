"""Finds the Keras that is ``tf.keras`` of the three eras, and its modules.

Up to 2.15 it is the TensorFlow's own, from 2.16 on the package ``tf_keras`` of the same release.
Without that package, and where TF_USE_LEGACY_KERAS says no, it is the installed Keras 3.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import types
from types import ModuleType
from typing import Any, Callable

from tpudist import machine, surfaces
from tpudist.tfcompat import versions

#: The API of ``tf_keras``, by generation.
_API = {"compat.v1": "tf_keras.api._v1.keras", "compat.v2": "tf_keras.api._v2.keras"}

_WITHIN = "python.keras."
#: Modules below it that have another name in the package of today.
_MOVED = {"optimizer_v2.learning_rate_schedule": "optimizers.schedules.learning_rate_schedule"}
#: Where ``optimizer_v2`` went, newest first.
_OPTIMIZERS_WITHIN = ("optimizers.legacy", "optimizers.optimizer_v2", "optimizer_v2")

_OPTIMIZERS = ("keras.optimizers", "optimizers")


def minor() -> str:
    """The installed TensorFlow's minor release, such as "2.21"."""
    return ".".join(str(versions.TF).split(".")[:2])


def is_chosen() -> bool:
    """Whether TF_USE_LEGACY_KERAS asks for Keras 3 in place of the eras' Keras."""
    return os.environ.get(machine.LEGACY_KERAS, "1") not in machine.YES


def legacy() -> bool:
    """Whether the eras' ``tf.keras`` is the package ``tf_keras``."""
    return versions.KERAS_3 and not is_chosen() and machine.has_legacy_keras(minor())


def is_keras_3() -> bool:
    """Whether the eras' ``tf.keras`` is Keras 3."""
    return versions.KERAS_3 and not legacy()


def leads_elsewhere(generation: str, name: str) -> bool:
    """Whether eras find a name of "compat.v1" or "compat.v2" elsewhere than TensorFlow does."""
    if name not in surfaces.KERAS[generation]:
        return False
    if versions.KERAS_3:
        return legacy()
    inside = name.partition(".")[0] in ("keras", "optimizers")
    return versions.KERAS_OPTIMIZERS_ARE_NEW and generation == "compat.v2" and inside


def modules(generation: str, name: str, above: ModuleType) -> list[ModuleType]:
    """The modules, in order, that have what is below a name in `above`, which leads elsewhere."""
    if legacy():
        below = surfaces.KERAS[generation][name]
        found: Any = importlib.import_module((_API[generation] + "." + below).rstrip("."))
    else:
        found = getattr(above, name.rpartition(".")[2])
    if generation == "compat.v2" and name in _OPTIMIZERS:
        by_name: Any = types.ModuleType(found.__name__)
        for each in ("get", "deserialize"):
            setattr(by_name, each, of_older_classes(getattr(found, each)))
        return [by_name, found.legacy, found]
    return [found]


def optimizers_found_by_name() -> ModuleType | None:
    """Keras 2's module in which ``compile`` finds optimizers by name; None if it is right."""
    if is_keras_3() or not versions.KERAS_OPTIMIZERS_ARE_NEW:
        return None
    import tensorflow as tf

    keras = importlib.import_module(_API["compat.v2"]) if versions.KERAS_3 else tf.keras
    return sys.modules[keras.optimizers.get.__module__]


def of_older_classes(native: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Keras' that finds an optimizer by its name, for the eras' classes."""

    @functools.wraps(native)
    def found(*args: Any, **kwargs: Any) -> object:
        return native(*args, **dict(kwargs, use_legacy_optimizer=True))

    return found


def private_homes(dotted: str) -> list[ModuleType]:
    """The modules that are ``tensorflow.python.keras`` of the eras, where Keras is a package.

    Up to 2.5 it was ``tf.keras`` itself; what newer releases have there is a second copy, whose
    classes are strange to ``tf.keras``. There are none where TensorFlow's own is right, or Keras 2
    is not there.
    """
    if not (dotted + ".").startswith(_WITHIN) or is_keras_3() or not versions.KERAS_IS_A_PACKAGE:
        return []
    below = dotted[len(_WITHIN) :]
    paths = [_MOVED[below]] if below in _MOVED else []
    paths += [below.replace("optimizer_v2", home) for home in _OPTIMIZERS_WITHIN]
    paths += ["layers"] if below.startswith("layers.") else []
    inside = ".src" if versions.KERAS_MODULES_ARE_IN_SRC else ""
    found = [_import_or_none((_package() + inside + "." + path).rstrip(".")) for path in paths]
    return [each for each in dict.fromkeys(found) if each is not None]


def saving_module() -> ModuleType | None:
    """The module whose ``save_model`` and ``save_weights_only`` write ``.keras`` files, if any."""
    module: ModuleType | None = _import_or_none(_package() + ".src.saving.saving_lib")
    return module


def folders_module() -> ModuleType | None:
    """The module whose ``save`` writes a model of Keras 2 as a folder, if any."""
    module: ModuleType | None = _import_or_none(_package() + ".src.saving.legacy.saved_model.save")
    return module


def _import_or_none(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def of_graphs() -> ModuleType:
    """The eras' ``tf.compat.v1.keras``: Keras 2, with a session's functions."""
    import tensorflow as tf

    if legacy():
        return importlib.import_module(_API["compat.v1"])
    return tf.compat.v1.keras


def normalization_of_graphs() -> tuple[Any, ModuleType] | None:
    """The module with ``tf_slim``'s batch normalization, and the layer's that it does not find."""
    if is_keras_3() or not versions.KERAS_MODULES_ARE_IN_SRC:
        return None
    layers = importlib.import_module(_package() + ".src.legacy_tf_layers.normalization")
    return importlib.import_module("tensorflow.python.layers.normalization"), layers


def batch_normalization_with_masks() -> type[Any] | None:
    """Keras 2's base class of batch normalization if it hands a mask on, else None."""
    if is_keras_3() or not versions.KERAS_MOMENTS_TAKE_MASKS:
        return None
    inside = ".src" if versions.KERAS_MODULES_ARE_IN_SRC else ""
    name = "%s%s.layers.normalization.batch_normalization" % (_package(), inside)
    return importlib.import_module(name).BatchNormalizationBase


def classes_with_members() -> list[tuple[Any, dict[str, str]]]:
    """Pairs of a base class of the eras' Keras and its rows of `KERAS_MEMBERS`."""
    keras = _of_eras()
    bases = {"model": keras.Model, "layer": keras.layers.Layer}
    if versions.HAS_METRIC:
        bases["metric"] = keras.metrics.Metric
    rows = surfaces.KERAS_MEMBERS.items()
    return [
        (base, {name: instead for (of, name), instead in rows if of == kind})
        for kind, base in bases.items()
    ]


def _package() -> str:
    """The package that is Keras 2 of the eras, on 2.6 and newer."""
    return "tf_keras" if legacy() else "keras"


def compile_arguments(model: Any) -> dict[str, Any]:
    """The arguments that a model was compiled with, by name; none if it was not."""
    if not getattr(model, "optimizer", None):
        return {}
    if versions.KERAS_TELLS_COMPILE_ARGUMENTS:
        return dict(model._get_compile_args(), optimizer=model.optimizer)
    return {
        "optimizer": model.optimizer,
        "loss": model.loss,
        "metrics": model._compile_metrics,
        "loss_weights": model.loss_weights,
        "sample_weight_mode": model.sample_weight_mode,
        "weighted_metrics": model._compile_weighted_metrics,
    }


def contrib_keras_support() -> ModuleType | None:
    """TensorFlow's module of ``keras_to_tpu_model``; None where it ended."""
    if versions.TF2:
        return None
    return importlib.import_module("tensorflow.contrib.tpu.python.tpu.keras_support")


def mixed_precision() -> ModuleType:
    """The eras' ``tf.keras.mixed_precision``, as the installed Keras has it."""
    return _of_eras().mixed_precision


def _of_eras() -> ModuleType:
    """The Keras that programs of the eras get."""
    if legacy():
        return importlib.import_module("tf_keras")
    import tensorflow as tf

    return tf.keras
