# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_2.tensorflow.core import framework as framework
from tpudist.v2_2.tensorflow.core import protobuf as protobuf

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
