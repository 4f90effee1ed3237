# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.computations.tpu_ops import get_tpu_context as get_tpu_context

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
