# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_0.tensorflow.compat import v1 as v1
from tpudist.v2_0.tensorflow.compat import v2 as v2

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
