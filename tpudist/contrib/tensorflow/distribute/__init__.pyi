# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.distribute import TPUStrategyV1 as _TPUStrategy
TPUStrategy = _TPUStrategy
from tpudist.contrib.tensorflow.distribute import cluster_resolver as cluster_resolver
from tpudist.contrib.tensorflow.distribute import experimental as experimental

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
