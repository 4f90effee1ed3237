# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.data import experimental as experimental
from tpudist.input.old_options import Options as Options

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
