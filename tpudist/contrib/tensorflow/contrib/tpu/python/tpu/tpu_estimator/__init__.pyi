# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.estimator.tpu import TPUEstimator as TPUEstimator
from tpudist.estimator.tpu import TPUEstimatorSpec as TPUEstimatorSpec

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
