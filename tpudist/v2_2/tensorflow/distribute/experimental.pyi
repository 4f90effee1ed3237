# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow._api.v2.distribute.experimental import *
from tensorflow.distribute.experimental import *

from tpudist.v2_2.context import ValueContext as ValueContext
from tpudist.v2_2.strategy import TPUStrategy as TPUStrategy

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
