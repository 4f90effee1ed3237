# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_2.compat_v1 import TPUStrategy as TPUStrategy
from tpudist.v2_2.context import ValueContext as ValueContext

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
