# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.estimator import Estimator as Estimator
from tpudist.estimator import WarmStartSettings as WarmStartSettings
from tpudist.estimator.checkpoints import trained_steps as __load_global_step_from_checkpoint_dir
_load_global_step_from_checkpoint_dir = __load_global_step_from_checkpoint_dir

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
