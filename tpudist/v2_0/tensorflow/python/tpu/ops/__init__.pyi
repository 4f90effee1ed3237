# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tpudist.v2_0.tensorflow.python.tpu.ops import tpu_ops as tpu_ops

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
