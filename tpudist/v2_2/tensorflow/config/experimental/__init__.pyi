# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.system.workers import list_logical_devices as list_logical_devices

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
