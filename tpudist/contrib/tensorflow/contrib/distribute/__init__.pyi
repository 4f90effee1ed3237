# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.context import MultiStepContext as MultiStepContext
from tpudist.contrib.context import TowerContext as TowerContext
from tpudist.contrib.context import get_cross_tower_context as get_cross_tower_context
from tpudist.contrib.context import get_distribution_strategy as get_distribution_strategy
from tpudist.contrib.context import get_loss_reduction as get_loss_reduction
from tpudist.contrib.context import get_tower_context as get_tower_context
from tpudist.contrib.context import has_distribution_strategy as has_distribution_strategy
from tpudist.contrib.distribute import TPUStrategy as TPUStrategy
from tpudist.contrib.tensorflow.contrib.distribute import python as python
from tpudist.system.cluster import initialize_tpu_system as initialize_tpu_system

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
