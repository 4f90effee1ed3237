# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tensorflow.python.tpu import async_checkpoint as async_checkpoint
from tpudist.contrib.tensorflow.python.tpu import ops as ops
from tpudist.contrib.tensorflow.python.tpu import session_support as session_support
from tpudist.contrib.tensorflow.python.tpu import tpu as tpu
from tpudist.contrib.tensorflow.python.tpu import tpu_config as tpu_config
from tpudist.contrib.tensorflow.python.tpu import tpu_context as tpu_context
from tpudist.contrib.tensorflow.python.tpu import tpu_estimator as tpu_estimator
from tpudist.contrib.tensorflow.python.tpu import tpu_feed as tpu_feed
from tpudist.contrib.tensorflow.python.tpu import tpu_function as tpu_function
from tpudist.contrib.tensorflow.python.tpu import tpu_strategy_util as tpu_strategy_util
from tpudist.contrib.tensorflow.python.tpu import training_loop as training_loop

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
