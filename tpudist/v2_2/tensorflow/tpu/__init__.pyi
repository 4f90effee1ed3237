# Written by: python -m compat.stubs
from typing import Any

from tpudist.core.computations.cross_shard_optimizer import CrossShardOptimizer as CrossShardOptimizer
from tpudist.core.computations.tpu_ops import batch_parallel as batch_parallel
from tpudist.core.computations.tpu_ops import cross_replica_sum as cross_replica_sum
from tpudist.core.computations.tpu_ops import initialize_system as initialize_system
from tpudist.core.computations.tpu_ops import replicate as replicate
from tpudist.core.computations.tpu_ops import rewrite as rewrite
from tpudist.core.computations.tpu_ops import shard as shard
from tpudist.core.computations.tpu_ops import shutdown_system as shutdown_system
from tpudist.v2_2.tensorflow.tpu import experimental as experimental

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
