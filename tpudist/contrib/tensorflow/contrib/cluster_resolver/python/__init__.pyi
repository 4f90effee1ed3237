# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tpudist.contrib.tensorflow.contrib.cluster_resolver.python import training as training

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
