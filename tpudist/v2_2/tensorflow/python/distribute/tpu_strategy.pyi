# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow.python.distribute.tpu_strategy import *

from tpudist.v2_2.later import TPUStrategy as TPUStrategyV2
from tpudist.v2_2.strategy import TPUStrategy as TPUStrategy

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
