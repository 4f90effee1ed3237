# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_0.tensorflow.python import client as client
from tpudist.v2_0.tensorflow.python import data as data
from tpudist.v2_0.tensorflow.python import distribute as distribute
from tpudist.v2_0.tensorflow.python import eager as eager
from tpudist.v2_0.tensorflow.python import estimator as estimator
from tpudist.v2_0.tensorflow.python import framework as framework
from tpudist.v2_0.tensorflow.python import keras as keras
from tpudist.v2_0.tensorflow.python import layers as layers
from tpudist.v2_0.tensorflow.python import ops as ops
from tpudist.v2_0.tensorflow.python import platform as platform
from tpudist.v2_0.tensorflow.python import saved_model as saved_model
from tpudist.v2_0.tensorflow.python import tpu as tpu
from tpudist.v2_0.tensorflow.python import training as training
from tpudist.v2_0.tensorflow.python import util as util

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
