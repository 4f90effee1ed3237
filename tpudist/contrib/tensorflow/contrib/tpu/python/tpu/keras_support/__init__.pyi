# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tpu import keras_to_tpu_model as _tpu_model
tpu_model = _tpu_model
from tpudist.keras.tpu_models import TPUDistributionStrategy as TPUDistributionStrategy

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
