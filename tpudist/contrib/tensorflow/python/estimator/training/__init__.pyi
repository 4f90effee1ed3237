# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.estimator import EvalSpec as EvalSpec
from tpudist.estimator import TrainSpec as TrainSpec
from tpudist.estimator import train_and_evaluate as train_and_evaluate

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
