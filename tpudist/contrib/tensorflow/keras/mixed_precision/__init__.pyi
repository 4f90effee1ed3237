# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.keras.mixed_precision import experimental as experimental

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
