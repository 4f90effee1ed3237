# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow.keras.initializers import *

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
