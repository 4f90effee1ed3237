# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow.compat import *
from tensorflow._api.v2.compat.v1.compat import *

from tpudist.contrib.tensorflow.compat import v1 as v1
from tpudist.contrib.tensorflow.compat import v2 as v2

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
