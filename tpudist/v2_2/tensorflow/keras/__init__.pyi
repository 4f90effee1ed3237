# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_2.tensorflow.keras import activations as activations
from tpudist.v2_2.tensorflow.keras import applications as applications
from tpudist.v2_2.tensorflow.keras import backend as backend
from tpudist.v2_2.tensorflow.keras import callbacks as callbacks
from tpudist.v2_2.tensorflow.keras import constraints as constraints
from tpudist.v2_2.tensorflow.keras import datasets as datasets
from tpudist.v2_2.tensorflow.keras import initializers as initializers
from tpudist.v2_2.tensorflow.keras import layers as layers
from tpudist.v2_2.tensorflow.keras import losses as losses
from tpudist.v2_2.tensorflow.keras import metrics as metrics
from tpudist.v2_2.tensorflow.keras import mixed_precision as mixed_precision
from tpudist.v2_2.tensorflow.keras import models as models
from tpudist.v2_2.tensorflow.keras import optimizers as optimizers
from tpudist.v2_2.tensorflow.keras import preprocessing as preprocessing
from tpudist.v2_2.tensorflow.keras import regularizers as regularizers
from tpudist.v2_2.tensorflow.keras import utils as utils

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
