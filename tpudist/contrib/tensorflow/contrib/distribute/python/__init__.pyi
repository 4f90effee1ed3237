# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.contrib.distribute.python import tpu_strategy as tpu_strategy

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
