# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tpudist.v2_0.tensorflow.python import distribute as distribute
from tpudist.v2_0.tensorflow.python import estimator as estimator
from tpudist.v2_0.tensorflow.python import tpu as tpu

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
