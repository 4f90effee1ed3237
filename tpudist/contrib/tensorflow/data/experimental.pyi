# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tpudist.core.input.old_options import OptimizationOptions as OptimizationOptions

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
