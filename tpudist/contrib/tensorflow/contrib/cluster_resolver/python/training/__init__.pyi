# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tpudist.contrib.tensorflow.contrib.cluster_resolver.python.training import tpu_cluster_resolver as tpu_cluster_resolver

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
