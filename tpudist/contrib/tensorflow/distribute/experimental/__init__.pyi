# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.distribute import TPUStrategyV1 as _TPUStrategy
TPUStrategy = _TPUStrategy

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
