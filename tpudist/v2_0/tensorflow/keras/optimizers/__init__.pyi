# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_0.tensorflow.keras.optimizers import schedules as schedules

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
