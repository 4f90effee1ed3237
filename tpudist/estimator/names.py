"""Which class a name of ``tf.estimator`` means: TensorFlow's where it has one, else ours."""

from __future__ import annotations

import importlib
import operator
from typing import TYPE_CHECKING

from tpudist.tfcompat import estimators

if TYPE_CHECKING:
    from typing import Any

#: {name below ``tf.estimator``: module of this package that stands in from 2.16 on}
STAND_INS = {
    "Estimator": "distributed",
    "EstimatorSpec": "specs",
    "ModeKeys": "specs",
    "RunConfig": "run_config",
    "WarmStartSettings": "warm_starting",
    "BestExporter": "exporters",
    "Exporter": "exporters",
    "FinalExporter": "exporters",
    "LatestExporter": "exporters",
    "EvalSpec": "training_with_evaluation",
    "TrainSpec": "training_with_evaluation",
    "train_and_evaluate": "training_with_evaluation",
    "export.ClassificationOutput": "exporting",
    "export.ExportOutput": "exporting",
    "export.PredictOutput": "exporting",
    "export.RegressionOutput": "exporting",
    "export.ServingInputReceiver": "exporting",
    "export.TensorServingInputReceiver": "exporting",
    "export.build_parsing_serving_input_receiver_fn": "exporting",
    "export.build_raw_serving_input_receiver_fn": "exporting",
}

#: The same below ``tf.estimator.tpu``.
TPU_STAND_INS = {
    "InputPipelineConfig": "tpu_stand_ins",
    "RunConfig": "tpu_stand_ins",
    "TPUConfig": "tpu_stand_ins",
    "TPUEstimatorSpec": "tpu_stand_ins",
}


def base() -> Any:
    """The class that Estimators here derive from: TensorFlow's, or the one that stands in."""
    if estimators.native is not None:
        return estimators.native.Estimator
    return _ours("monitored", "Estimator")


def load(name: str) -> Any:
    """What ``tf.estimator.<name>`` is."""
    if name == "Estimator":
        return _ours("distributed", name)
    if estimators.native is not None:
        return operator.attrgetter(name)(estimators.native)
    return _ours(STAND_INS[name], name)


def load_tpu(name: str) -> Any:
    """What ``tf.estimator.tpu.<name>`` is."""
    if estimators.native_tpu is not None:
        return estimators.native_tpu[name]
    return _ours(TPU_STAND_INS[name], name)


def _ours(module: str, name: str) -> Any:
    found = importlib.import_module("tpudist.estimator." + module)
    return getattr(found, name.rpartition(".")[2])
