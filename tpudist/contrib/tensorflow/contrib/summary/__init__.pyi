# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.estimator.copied_estimators import flush as flush

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
