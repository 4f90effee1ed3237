# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.contrib.tpu.python import ops as ops
from tpudist.contrib.tensorflow.contrib.tpu.python import tpu as tpu

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
