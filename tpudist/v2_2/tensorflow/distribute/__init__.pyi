# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.input.old_options import InputOptions as InputOptions
from tpudist.v2_2.context import ValueContext as ValueContext
from tpudist.v2_2.later import TPUStrategy as TPUStrategy
from tpudist.v2_2.tensorflow.distribute import cluster_resolver as cluster_resolver
from tpudist.v2_2.tensorflow.distribute import experimental as experimental

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
