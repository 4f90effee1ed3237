# Written by: python -m compat.make.stubs
from typing import Any

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
