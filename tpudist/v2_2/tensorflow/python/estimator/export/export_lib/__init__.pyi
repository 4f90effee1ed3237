# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.estimator.export import ClassificationOutput as ClassificationOutput
from tpudist.estimator.export import ExportOutput as ExportOutput
from tpudist.estimator.export import PredictOutput as PredictOutput
from tpudist.estimator.export import RegressionOutput as RegressionOutput
from tpudist.estimator.export import ServingInputReceiver as ServingInputReceiver
from tpudist.estimator.export import TensorServingInputReceiver as TensorServingInputReceiver
from tpudist.estimator.export import build_parsing_serving_input_receiver_fn as build_parsing_serving_input_receiver_fn
from tpudist.estimator.export import build_raw_serving_input_receiver_fn as build_raw_serving_input_receiver_fn

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
