# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tpudist.contrib.tensorflow.contrib import cluster_resolver as cluster_resolver
from tpudist.contrib.tensorflow.contrib import distribute as distribute
from tpudist.contrib.tensorflow.contrib import tpu as tpu

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
