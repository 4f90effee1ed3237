# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.system.cluster import initialize_tpu_system as initialize_tpu_system
from tpudist.system.cluster import shutdown_tpu_system as shutdown_tpu_system

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
