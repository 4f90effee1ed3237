# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow._api.v2.distribute.cluster_resolver import *
from tensorflow.distribute.cluster_resolver import *

from tpudist.core.system.cluster import TPUClusterResolver as TPUClusterResolver

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
