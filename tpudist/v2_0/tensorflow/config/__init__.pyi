# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.dropin.hosts import connect_to_host as _experimental_connect_to_host
experimental_connect_to_host = _experimental_connect_to_host
from tpudist.system.cluster import connect_to_cluster as _experimental_connect_to_cluster
experimental_connect_to_cluster = _experimental_connect_to_cluster
from tpudist.system.workers import list_logical_devices as list_logical_devices
from tpudist.v2_0.tensorflow.config import experimental as experimental

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
