# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_0.strategy import TPUStrategy as TPUStrategy
from tpudist.v2_0.tensorflow.compat.v1.distribute import experimental as experimental
from tpudist.v2_0.tensorflow.distribute import cluster_resolver as cluster_resolver

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
