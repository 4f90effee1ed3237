# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tpu import repeat as repeat
from tpudist.contrib.tpu import while_loop as while_loop

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
