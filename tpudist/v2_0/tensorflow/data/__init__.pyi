# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.input.old_options import Options as Options
from tpudist.v2_0.tensorflow.data import experimental as experimental

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
