# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.contrib.tpu import python as python
from tpudist.contrib.tpu import CrossShardOptimizer as CrossShardOptimizer
from tpudist.contrib.tpu import InfeedQueue as InfeedQueue
from tpudist.contrib.tpu import batch_parallel as batch_parallel
from tpudist.contrib.tpu import bfloat16_scope as bfloat16_scope
from tpudist.contrib.tpu import cross_replica_sum as cross_replica_sum
from tpudist.contrib.tpu import infeed_dequeue as infeed_dequeue
from tpudist.contrib.tpu import infeed_dequeue_tuple as infeed_dequeue_tuple
from tpudist.contrib.tpu import infeed_enqueue as infeed_enqueue
from tpudist.contrib.tpu import infeed_enqueue_tuple as infeed_enqueue_tuple
from tpudist.contrib.tpu import initialize_system as initialize_system
from tpudist.contrib.tpu import keras_to_tpu_model as keras_to_tpu_model
from tpudist.contrib.tpu import outfeed_dequeue as outfeed_dequeue
from tpudist.contrib.tpu import outfeed_dequeue_tuple as outfeed_dequeue_tuple
from tpudist.contrib.tpu import outfeed_enqueue as outfeed_enqueue
from tpudist.contrib.tpu import outfeed_enqueue_tuple as outfeed_enqueue_tuple
from tpudist.contrib.tpu import repeat as repeat
from tpudist.contrib.tpu import replicate as replicate
from tpudist.contrib.tpu import rewrite as rewrite
from tpudist.contrib.tpu import shard as shard
from tpudist.contrib.tpu import shutdown_system as shutdown_system
from tpudist.contrib.tpu import while_loop as while_loop
from tpudist.estimator.checkpoints import AsyncCheckpointSaverHook as AsyncCheckpointSaverHook
from tpudist.estimator.tpu import InputPipelineConfig as InputPipelineConfig
from tpudist.estimator.tpu import RunConfig as RunConfig
from tpudist.estimator.tpu import TPUConfig as TPUConfig
from tpudist.estimator.tpu import TPUEstimator as TPUEstimator
from tpudist.estimator.tpu import TPUEstimatorSpec as TPUEstimatorSpec
from tpudist.keras.tpu_models import TPUDistributionStrategy as TPUDistributionStrategy
from tpudist.system.placement import DeviceAssignment as DeviceAssignment
from tpudist.tfcompat.tpu import Topology as Topology

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
