# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.estimator import EstimatorSpec as EstimatorSpec
from tpudist.estimator import ModeKeys as ModeKeys

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
