# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.estimator.copied_estimators import get_tpu_context as __get_tpu_context
_get_tpu_context = __get_tpu_context

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
