# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.contrib.training import python as python

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
