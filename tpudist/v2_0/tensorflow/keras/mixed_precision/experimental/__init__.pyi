# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.keras.old_policies import LossScaleOptimizer as LossScaleOptimizer
from tpudist.keras.old_policies import Policy as Policy
from tpudist.keras.old_policies import get_layer_policy as get_layer_policy
from tpudist.keras.old_policies import global_policy as global_policy
from tpudist.keras.old_policies import set_policy as set_policy

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
