# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.context import VariableAggregation as VariableAggregation
from tpudist.contrib.context import get_cross_tower_context as get_cross_tower_context
from tpudist.contrib.context import get_tower_context as get_tower_context
from tpudist.contrib.tensorflow import config as config
from tpudist.contrib.tensorflow import contrib as contrib
from tpudist.contrib.tensorflow import core as core
from tpudist.contrib.tensorflow import data as data
from tpudist.contrib.tensorflow import distribute as distribute
from tpudist.contrib.tensorflow import estimator as estimator
from tpudist.contrib.tensorflow import io as io
from tpudist.contrib.tensorflow import keras as keras
from tpudist.contrib.tensorflow import tpu as tpu
from tpudist.system.workers import InteractiveSession as InteractiveSession
from tpudist.system.workers import Session as Session
from tpudist.system.workers import device as device

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
