# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tpudist.contrib.distribute import TPUStrategy as TPUStrategy

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
