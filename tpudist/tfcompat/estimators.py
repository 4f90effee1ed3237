"""TensorFlow's own Estimator code, and TPUEstimator below it (in 1.13: in contrib).

Until 2.15 it is ``tf.estimator``; from 2.16 on the package tensorflow-estimator has it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.ops import gen_summary_ops, summary_ops_v2
from tensorflow.python.training import evaluation, training_util
from tensorflow.python.training.basic_session_run_hooks import StepCounterHook

from tpudist.tfcompat import versions

if TYPE_CHECKING:
    from types import ModuleType

#: Re-exported unchanged.
__all__ = ["StepCounterHook"]

StopAfterNEvalsHook = evaluation._StopAfterNEvalsHook
global_step_read = training_util._get_or_create_global_step_read

if versions.HAS_ESTIMATOR:
    native = tf.compat.v1.estimator
else:
    from tpudist.tfcompat import estimator_package

    native = estimator_package.load()
    #: What to type if `native`, the module of Estimator, is None.
    REQUIREMENT = estimator_package.REQUIREMENT

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
    return [estimator_package.api(generation)]


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
