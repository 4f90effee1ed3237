# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tpu import InfeedQueue as InfeedQueue

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
