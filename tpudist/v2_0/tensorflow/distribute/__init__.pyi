# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow._api.v2.distribute import *
from tensorflow.distribute import *

from tpudist.v2_0.strategy import TPUStrategy as TPUStrategy
from tpudist.v2_0.tensorflow.distribute import cluster_resolver as cluster_resolver
from tpudist.v2_0.tensorflow.distribute import experimental as experimental

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
