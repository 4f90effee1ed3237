# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.python.keras import callbacks as callbacks
from tpudist.contrib.tensorflow.python.keras import engine as engine
from tpudist.contrib.tensorflow.python.keras import layers as layers

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
