# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.estimator.checkpoints import AsyncCheckpointSaverHook as AsyncCheckpointSaverHook

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
