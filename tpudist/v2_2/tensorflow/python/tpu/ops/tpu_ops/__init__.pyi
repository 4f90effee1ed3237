# Written by: python -m compat.stubs
from typing import Any

from tpudist.contrib.tpu import cross_replica_sum as cross_replica_sum

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
