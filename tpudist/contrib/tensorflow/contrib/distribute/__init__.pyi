# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow._api.v2.compat.v1.distribute import Strategy as _DistributionStrategy
DistributionStrategy = _DistributionStrategy
from tensorflow._api.v2.distribute import ReplicaContext as ReplicaContext
from tensorflow._api.v2.distribute import get_replica_context as get_replica_context
from tensorflow._api.v2.distribute import get_strategy as get_strategy
from tensorflow._api.v2.distribute import has_strategy as has_strategy
from tensorflow._api.v2.distribute import in_cross_replica_context as in_cross_replica_context
from tpudist.contrib.context import MultiStepContext as MultiStepContext
from tpudist.contrib.context import TowerContext as TowerContext
from tpudist.contrib.context import get_cross_tower_context as get_cross_tower_context
from tpudist.contrib.context import get_distribution_strategy as get_distribution_strategy
from tpudist.contrib.context import get_loss_reduction as get_loss_reduction
from tpudist.contrib.context import get_tower_context as get_tower_context
from tpudist.contrib.context import has_distribution_strategy as has_distribution_strategy
from tpudist.contrib.distribute import TPUStrategy as TPUStrategy
from tpudist.contrib.tensorflow.contrib.distribute import python as python
from tpudist.core.system.cluster import initialize_tpu_system as initialize_tpu_system

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
