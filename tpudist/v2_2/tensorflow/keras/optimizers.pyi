# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow._api.v2.keras.optimizers import *
from tensorflow.keras.optimizers import *

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
