# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_0.compat_v1 import TPUStrategy as TPUStrategy

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
