# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.python import client as client
from tpudist.contrib.tensorflow.python import data as data
from tpudist.contrib.tensorflow.python import distribute as distribute
from tpudist.contrib.tensorflow.python import eager as eager
from tpudist.contrib.tensorflow.python import estimator as estimator
from tpudist.contrib.tensorflow.python import framework as framework
from tpudist.contrib.tensorflow.python import keras as keras
from tpudist.contrib.tensorflow.python import layers as layers
from tpudist.contrib.tensorflow.python import ops as ops
from tpudist.contrib.tensorflow.python import platform as platform
from tpudist.contrib.tensorflow.python import saved_model as saved_model
from tpudist.contrib.tensorflow.python import tpu as tpu
from tpudist.contrib.tensorflow.python import training as training
from tpudist.contrib.tensorflow.python import util as util

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
