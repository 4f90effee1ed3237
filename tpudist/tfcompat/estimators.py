"""TensorFlow's own Estimator code, and what an Estimator is made of where there is none.

Until 2.15 ``tf.estimator`` is there, and TPUEstimator below it (in 1.13: in contrib).
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.ops import gen_summary_ops, summary_ops_v2
from tensorflow.python.training import evaluation, training_util
from tensorflow.python.training.basic_session_run_hooks import StepCounterHook

from tpudist.tfcompat import versions

#: Re-exported unchanged.
__all__ = ["StepCounterHook"]

StopAfterNEvalsHook = evaluation._StopAfterNEvalsHook
evaluate_once = evaluation._evaluate_once
eval_step = evaluation._get_or_create_eval_step
global_step_read = training_util._get_or_create_global_step_read

#: TensorFlow's module of Estimator; None from 2.16 on.
native = tf.compat.v1.estimator if versions.HAS_ESTIMATOR else None

if not versions.HAS_ESTIMATOR:
    native_tpu = None
elif versions.TPU_ESTIMATOR_HAS_PACKAGE:
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


def step_hook_of_loops(hook: Any, steps: Any) -> Any:
    """Tells a hook that counts steps how many of them one Session run takes."""
    hook._set_steps_per_run(steps)
    return hook


def summary_writers() -> tuple[list[Any], list[Any]]:
    """(ops that make, ops that flush) the summary writers of the current graph."""
    made = list(summary_ops_v2.summary_writer_initializer_op())
    return made, [gen_summary_ops.flush_summary_writer(op.inputs[0]) for op in made]
