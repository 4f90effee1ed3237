# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_2.context import ValueContext as ValueContext
from tpudist.v2_2.strategy import TPUStrategy as TPUStrategy

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
