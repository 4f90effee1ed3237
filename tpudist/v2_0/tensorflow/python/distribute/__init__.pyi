# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_0.tensorflow.python.distribute import cluster_resolver as cluster_resolver
from tpudist.v2_0.tensorflow.python.distribute import tpu_strategy as tpu_strategy

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
