# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow._api.v2.data.experimental import *
from tensorflow.data.experimental import *

from tpudist.core.input.old_options import OptimizationOptions as OptimizationOptions

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
