# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.contrib.cluster_resolver.python.training import tpu_cluster_resolver as tpu_cluster_resolver

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
