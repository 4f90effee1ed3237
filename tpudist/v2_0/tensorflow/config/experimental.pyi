# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow._api.v2.config.experimental import *
from tensorflow.config.experimental import *

from tpudist.core.system.workers import list_logical_devices as list_logical_devices

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
