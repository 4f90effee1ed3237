# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_2.tensorflow.python.data import ops as ops

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
