# Written by: python -m compat.stubs
from typing import Any

from tpudist.core.computations.tpu_ops import batch_parallel as batch_parallel
from tpudist.core.computations.tpu_ops import initialize_system as initialize_system
from tpudist.core.computations.tpu_ops import replicate as replicate
from tpudist.core.computations.tpu_ops import rewrite as rewrite
from tpudist.core.computations.tpu_ops import shard as shard
from tpudist.core.computations.tpu_ops import shutdown_system as shutdown_system

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
