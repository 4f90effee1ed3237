# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow._api.v2.estimator.tpu import *
from tensorflow.estimator.tpu import *

from tpudist.estimator.tpu import InputPipelineConfig as InputPipelineConfig
from tpudist.estimator.tpu import RunConfig as RunConfig
from tpudist.estimator.tpu import TPUConfig as TPUConfig
from tpudist.estimator.tpu import TPUEstimator as TPUEstimator
from tpudist.estimator.tpu import TPUEstimatorSpec as TPUEstimatorSpec

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
