# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.distribute import TPUStrategy as TPUStrategy

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
