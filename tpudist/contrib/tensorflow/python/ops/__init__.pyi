# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.python.ops import summary_ops_v2 as summary_ops_v2

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
