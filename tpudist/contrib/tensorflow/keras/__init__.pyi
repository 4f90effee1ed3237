# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.keras import activations as activations
from tpudist.contrib.tensorflow.keras import applications as applications
from tpudist.contrib.tensorflow.keras import backend as backend
from tpudist.contrib.tensorflow.keras import callbacks as callbacks
from tpudist.contrib.tensorflow.keras import constraints as constraints
from tpudist.contrib.tensorflow.keras import datasets as datasets
from tpudist.contrib.tensorflow.keras import initializers as initializers
from tpudist.contrib.tensorflow.keras import layers as layers
from tpudist.contrib.tensorflow.keras import losses as losses
from tpudist.contrib.tensorflow.keras import metrics as metrics
from tpudist.contrib.tensorflow.keras import mixed_precision as mixed_precision
from tpudist.contrib.tensorflow.keras import models as models
from tpudist.contrib.tensorflow.keras import optimizers as optimizers
from tpudist.contrib.tensorflow.keras import preprocessing as preprocessing
from tpudist.contrib.tensorflow.keras import regularizers as regularizers
from tpudist.contrib.tensorflow.keras import utils as utils

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
