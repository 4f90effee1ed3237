# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow._api.v2.data import *
from tensorflow.data import *

from tpudist.core.input.old_options import Options as Options
from tpudist.v2_0.tensorflow.data import experimental as experimental

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
