# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.dropin.features import Int64List as Int64List

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
