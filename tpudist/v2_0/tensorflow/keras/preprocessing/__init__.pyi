# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_0.tensorflow.keras.preprocessing import image as image
from tpudist.v2_0.tensorflow.keras.preprocessing import sequence as sequence
from tpudist.v2_0.tensorflow.keras.preprocessing import text as text

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
