"""TensorFlow's own Estimator code, and TPUEstimator below it (in 1.13: in contrib).

Until 2.15 it is ``tf.estimator``, from 2.16 on the package tensorflow-estimator. Its last release,
2.15.0, asks for one attribute and four private modules that TensorFlow no longer has: names of its
exported API, and what only TPU embeddings and the distribute coordinator used. It is given these,
and the Keras of its time as ``tf.keras``.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import types
from typing import TYPE_CHECKING, Any, Iterator, Mapping

import tensorflow as tf
from tensorflow.python.ops import gen_summary_ops, summary_ops_v2
from tensorflow.python.training import evaluation, training_util
from tensorflow.python.training.basic_session_run_hooks import StepCounterHook
from tensorflow.python.util import tf_export

from tpudist.errors import EraNameError
from tpudist.tfcompat import keras_packages, versions

if TYPE_CHECKING:
    from types import ModuleType

#: Re-exported unchanged.
__all__ = ["StepCounterHook"]

StopAfterNEvalsHook = evaluation._StopAfterNEvalsHook
global_step_read = training_util._get_or_create_global_step_read

# The package on TensorFlow 2.16 and newer.

#: What pip installs the package by, which asks for no TensorFlow; without it `native` is None.
REQUIREMENT = "tensorflow-estimator==2.15.0"

_ABSENT = (
    *("distribute.estimator_training", "tpu.session_support"),
    *("tpu.tpu_embedding", "tpu.tpu_embedding_gradient"),
)


def _load() -> ModuleType | None:
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
    return _package_api("compat.v1")


def _package_api(generation: str) -> ModuleType:
    """The package's ``tf.estimator`` as "compat.v1" or "compat.v2" has it."""
    name = "tensorflow_estimator.python.estimator.api._%s.estimator" % generation[-2:]
    if name not in sys.modules:
        with _with_keras_2():
            importlib.import_module(name)
    module = sys.modules[name]
    return _WithoutKeras2(module, {}) if keras_packages.is_keras_3() else module


@contextlib.contextmanager
def _with_keras_2() -> Iterator[None]:
    """Lets modules that are imported meanwhile have a ``tf`` whose Keras is that of the eras."""
    v1, v2 = _keras("compat.v1", "keras", "layers"), _keras("compat.v2", "keras")
    both = {"v1": _Overlay(tf.compat.v1, v1), "v2": _Overlay(tf.compat.v2, v2)}
    sys.modules["tensorflow"] = _Overlay(tf, {"compat": _Overlay(tf.compat, both), **v2})
    try:
        yield
    finally:
        sys.modules["tensorflow"] = tf


def _keras(generation: str, *names: str) -> dict[str, ModuleType]:
    return {
        name: keras_packages.modules(generation, name, tf)[0]
        for name in names
        if keras_packages.leads_elsewhere(generation, name)
    }


class _Overlay(types.ModuleType):
    """A module with some of its members replaced."""

    def __init__(self, module: ModuleType, members: Mapping[str, ModuleType]) -> None:
        super().__init__(module.__name__)
        self.__dict__.update(members, __path__=module.__path__, __spec__=module.__spec__)
        self._module = module

    def __getattr__(self, name: str) -> object:
        return getattr(self._module, name)


class _WithoutKeras2(_Overlay):
    """The package's ``tf.estimator`` where Keras is Keras 3, whose models it cannot make."""

    def __getattr__(self, name: str) -> object:
        value = getattr(self._module, name)
        if name.startswith(("DNN", "Linear")):
            raise EraNameError(
                "tf.estimator.%s with Keras 3" % name,
                "its model is made of Keras 2, which TensorFlow %s has not" % versions.TF,
                "pip install tf-keras==%s.*, and no TF_USE_LEGACY_KERAS=0" % keras_packages.minor(),
            )
        return value


class _Gone:
    """Placeholder for a class of TPU embeddings that cannot be instantiated."""


def _init_run_config(config: Any, tf_config: Mapping[str, Any]) -> None:
    """Sets a config up for a strategy, which no coordinator of TensorFlow 1 runs."""
    config._distribute_coordinator_mode = None
    config._init_distributed_setting_from_environment_var(tf_config)
    config._maybe_overwrite_session_config_for_distributed_training()


#: The functions of the distribute coordinator that an Estimator without a cluster calls.
_COORDINATOR = {
    "should_run_distribute_coordinator": lambda config: False,
    "init_run_config": _init_run_config,
}


def _make(full: str) -> None:
    """Makes a module in place of a removed one; its classes cannot be instantiated."""
    module = types.ModuleType(full)

    def find(name: str) -> object:
        if name.startswith("__"):
            raise AttributeError("module %r has no attribute %r" % (full, name))
        return _COORDINATOR.get(name, _Gone)

    module.__getattr__ = find  # type: ignore[method-assign]
    sys.modules[full] = module
    above, _, last = full.rpartition(".")
    setattr(importlib.import_module(above), last, module)


if versions.HAS_ESTIMATOR:
    native = tf.compat.v1.estimator
else:
    native = _load()

native_tpu: Any
if native is None:
    native_tpu = None
elif versions.TPU_IN_PYTHON:
    from tensorflow_estimator.python.estimator.tpu import tpu_config, tpu_estimator

    native_tpu = {
        "InputPipelineConfig": tpu_config.InputPipelineConfig,
        "RunConfig": tpu_config.RunConfig,
        "TPUConfig": tpu_config.TPUConfig,
        "TPUEstimator": tpu_estimator.TPUEstimator,
        "TPUEstimatorSpec": tpu_estimator.TPUEstimatorSpec,
    }
else:
    native_tpu = vars(tf.contrib.tpu)

#: TensorFlow's own TPUEstimator. That of the package needs a runtime for TPUs that TensorFlow no
#: longer has.
native_tpu_estimator = native_tpu["TPUEstimator"] if versions.HAS_ESTIMATOR else None


def api(generation: str) -> list[Any]:
    """[``tf.estimator`` as "compat.v1" or "compat.v2" has it], of its package; else []."""
    if versions.HAS_ESTIMATOR or native is None:
        return []
    return [_package_api(generation)]


def private_module(dotted: str) -> ModuleType | None:
    """The package's module of a name such as "python.estimator.canned.head", or None."""
    if native is None:
        return None
    name = dotted.replace("python.tpu", "python.estimator.tpu", 1)
    try:
        return importlib.import_module("tensorflow_estimator." + name)
    except ImportError:
        return None


def tpu_context(config: object, arguments: list[Any]) -> Any:
    """TensorFlow's `_get_tpu_context`, whose last argument, for embeddings, 1.13 does not have."""
    if versions.TPU_IN_PYTHON:
        from tensorflow_estimator.python.estimator.tpu import tpu_context as contexts

        return contexts._get_tpu_context(config, *arguments)
    from tensorflow.contrib.tpu.python.tpu import tpu_context as contexts

    return contexts._get_tpu_context(config, *arguments[:5])


def flush(writer: Any, name: str | None) -> Any:
    """``tf.summary.flush`` of a writer, or of the resource tensor of one."""
    if isinstance(writer, tf.Tensor):
        return gen_summary_ops.flush_summary_writer(writer, name=name)
    return summary_ops_v2.flush(writer, name)


def session_support() -> ModuleType:
    """TensorFlow's module that watches the workers of a TPU; 1.13 has it in contrib."""
    package = "python.tpu" if versions.TPU_IN_PYTHON else "contrib.tpu.python.tpu"
    return importlib.import_module("tensorflow.%s.session_support" % package)


def step_hook_of_loops(hook: Any, steps: object) -> Any:
    """Sets how many steps one Session run takes, in a hook that counts steps."""
    hook._set_steps_per_run(steps)
    return hook


def summary_writers() -> tuple[list[Any], list[Any]]:
    """(ops that make, ops that flush) the summary writers of the current graph."""
    made = list(summary_ops_v2.summary_writer_initializer_op())
    return made, [gen_summary_ops.flush_summary_writer(op.inputs[0]) for op in made]
