# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.contrib import cluster_resolver as cluster_resolver
from tpudist.contrib.tensorflow.contrib import data as data
from tpudist.contrib.tensorflow.contrib import distribute as distribute
from tpudist.contrib.tensorflow.contrib import eager as eager
from tpudist.contrib.tensorflow.contrib import framework as framework
from tpudist.contrib.tensorflow.contrib import layers as layers
from tpudist.contrib.tensorflow.contrib import rnn as rnn
from tpudist.contrib.tensorflow.contrib import seq2seq as seq2seq
from tpudist.contrib.tensorflow.contrib import slim as slim
from tpudist.contrib.tensorflow.contrib import summary as summary
from tpudist.contrib.tensorflow.contrib import tpu as tpu
from tpudist.contrib.tensorflow.contrib import training as training

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
