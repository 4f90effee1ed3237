# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow._api.v2.tpu import *
from tensorflow.tpu import *

from tpudist.core.cross_shard_optimizer import CrossShardOptimizer as CrossShardOptimizer
from tpudist.core.tpu_ops import cross_replica_sum as cross_replica_sum
from tpudist.v2_0.tensorflow.tpu import experimental as experimental

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
