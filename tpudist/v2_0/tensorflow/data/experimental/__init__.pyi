# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.input.old_options import OptimizationOptions as OptimizationOptions

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
