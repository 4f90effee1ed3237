# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tpudist.contrib.distribute import TPUStrategyV1 as TPUStrategyV1
from tpudist.contrib.distribute import TPUStrategyV1 as _TPUStrategy
TPUStrategy = _TPUStrategy

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
