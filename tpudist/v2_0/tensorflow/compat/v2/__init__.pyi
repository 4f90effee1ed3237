# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.system.workers import device as device
from tpudist.v2_0.tensorflow import config as config
from tpudist.v2_0.tensorflow import core as core
from tpudist.v2_0.tensorflow import data as data
from tpudist.v2_0.tensorflow import distribute as distribute
from tpudist.v2_0.tensorflow import estimator as estimator
from tpudist.v2_0.tensorflow import io as io
from tpudist.v2_0.tensorflow import keras as keras
from tpudist.v2_0.tensorflow import tpu as tpu

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
