# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.estimator.tpu import InputPipelineConfig as InputPipelineConfig
from tpudist.estimator.tpu import RunConfig as RunConfig
from tpudist.estimator.tpu import TPUConfig as TPUConfig

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
