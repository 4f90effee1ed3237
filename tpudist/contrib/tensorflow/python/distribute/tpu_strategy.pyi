# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow.python.distribute.tpu_strategy import *

from tpudist.contrib.distribute import TPUStrategyV1 as TPUStrategy
from tpudist.contrib.distribute import TPUStrategyV1 as TPUStrategyV1

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
