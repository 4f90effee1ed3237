# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.contrib.seq2seq.python import ops as ops

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
