# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.python.tpu.ops import tpu_ops as tpu_ops

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
