# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow.keras.preprocessing import *
from tensorflow._api.v2.compat.v1.keras.preprocessing import *

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
