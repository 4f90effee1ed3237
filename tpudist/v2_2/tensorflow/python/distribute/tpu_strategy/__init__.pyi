# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_2.compat_v1 import TPUStrategy as _TPUStrategyV1
TPUStrategyV1 = _TPUStrategyV1
from tpudist.v2_2.later import TPUStrategy as _TPUStrategyV2
TPUStrategyV2 = _TPUStrategyV2
from tpudist.v2_2.strategy import TPUStrategy as TPUStrategy

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
