# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.system.cluster import TPUClusterResolver as TPUClusterResolver
from tpudist.v2_0.tensorflow.python.distribute.cluster_resolver import tpu_cluster_resolver as tpu_cluster_resolver

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
