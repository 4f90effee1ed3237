# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tpudist.core.computations.tpu_ops import cross_replica_sum as cross_replica_sum

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
