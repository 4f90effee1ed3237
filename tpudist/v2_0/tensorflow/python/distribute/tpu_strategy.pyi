# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tpudist.v2_0.strategy import TPUStrategy as TPUStrategy
from tpudist.v2_0.strategy import TPUStrategy as _TPUStrategyV2
TPUStrategyV2 = _TPUStrategyV2

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
