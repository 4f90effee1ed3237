# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tpudist.contrib.tensorflow.python import distribute as distribute
from tpudist.contrib.tensorflow.python import estimator as estimator
from tpudist.contrib.tensorflow.python import tpu as tpu

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
