# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tpudist.core.computations.tpu_ops import get_tpu_context as get_tpu_context

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
