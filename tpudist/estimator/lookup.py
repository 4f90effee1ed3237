"""Looks up names of ``tf.estimator``: TensorFlow's class where it has one, else a stand-in.

``Estimator`` is a class of this package on every release, derived from TensorFlow's or from
its stand-in.
"""

from __future__ import annotations

import importlib
import operator
from typing import Any

from tpudist.tfcompat import estimators


def _defined_in(module: str, names: str, prefix: str = "") -> dict[str, str]:
    return {prefix + name: "%s:%s" % (module, name) for name in names.split()}


#: {name below ``tf.estimator``: ``module:name`` in this package}, used from 2.16 on
STAND_INS = {
    **_defined_in("train_distribute", "Estimator"),
    **_defined_in("stand_ins.estimator", "WarmStartSettings"),
    **_defined_in("stand_ins.configs", "RunConfig"),
    **_defined_in("stand_ins.specs", "EstimatorSpec ModeKeys"),
    **_defined_in("stand_ins.train_and_evaluate", "EvalSpec TrainSpec train_and_evaluate"),
    **_defined_in("stand_ins.saved_models", "BestExporter Exporter FinalExporter LatestExporter"),
    **_defined_in(
        "stand_ins.saved_models",
        "ClassificationOutput ExportOutput PredictOutput RegressionOutput "
        "ServingInputReceiver TensorServingInputReceiver "
        "build_parsing_serving_input_receiver_fn build_raw_serving_input_receiver_fn",
        prefix="export.",
    ),
}

#: The same for names below ``tf.estimator.tpu``.
TPU_STAND_INS = {
    **_defined_in("stand_ins.configs", "InputPipelineConfig TPUConfig"),
    **_defined_in("stand_ins.specs", "TPUEstimatorSpec"),
    "RunConfig": "stand_ins.configs:TPURunConfig",
}


def estimator_base() -> Any:
    """Returns the class that `train_distribute.Estimator` derives from."""
    if estimators.native is not None:
        return estimators.native.Estimator
    return _import("stand_ins.estimator:Estimator")


def load(name: str) -> Any:
    """Returns what ``tf.estimator.<name>`` means on the installed TensorFlow."""
    if estimators.native is None or name == "Estimator":
        return _import(STAND_INS[name])
    return operator.attrgetter(name)(estimators.native)


def load_tpu(name: str) -> Any:
    """Returns what ``tf.estimator.tpu.<name>`` means on the installed TensorFlow."""
    if estimators.native_tpu is None:
        return _import(TPU_STAND_INS[name])
    return estimators.native_tpu[name]


def _import(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module("tpudist.estimator." + module), name)
