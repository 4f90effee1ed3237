# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tpudist.core.computations.cross_shard_optimizer import CrossShardOptimizer as CrossShardOptimizer

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
