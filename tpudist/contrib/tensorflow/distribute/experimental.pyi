# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow.distribute.experimental import *
from tensorflow._api.v2.compat.v1.distribute.experimental import *

from tpudist.contrib.distribute import TPUStrategyV1 as TPUStrategy

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
