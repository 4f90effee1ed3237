# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow.keras.mixed_precision import *

from tpudist.v2_0.tensorflow.keras.mixed_precision import experimental as experimental

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
