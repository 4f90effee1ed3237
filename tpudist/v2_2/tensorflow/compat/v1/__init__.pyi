# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.system.workers import InteractiveSession as InteractiveSession
from tpudist.system.workers import Session as Session
from tpudist.system.workers import device as device
from tpudist.v2_2.tensorflow import config as config
from tpudist.v2_2.tensorflow import core as core
from tpudist.v2_2.tensorflow import data as data
from tpudist.v2_2.tensorflow import estimator as estimator
from tpudist.v2_2.tensorflow import io as io
from tpudist.v2_2.tensorflow import keras as keras
from tpudist.v2_2.tensorflow import tpu as tpu
from tpudist.v2_2.tensorflow.compat.v1 import distribute as distribute

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
