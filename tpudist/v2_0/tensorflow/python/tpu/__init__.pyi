# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_0.tensorflow.python.tpu import ops as ops
from tpudist.v2_0.tensorflow.python.tpu import tpu as tpu
from tpudist.v2_0.tensorflow.python.tpu import tpu_config as tpu_config
from tpudist.v2_0.tensorflow.python.tpu import tpu_estimator as tpu_estimator
from tpudist.v2_0.tensorflow.python.tpu import tpu_feed as tpu_feed
from tpudist.v2_0.tensorflow.python.tpu import tpu_function as tpu_function
from tpudist.v2_0.tensorflow.python.tpu import tpu_optimizer as tpu_optimizer
from tpudist.v2_0.tensorflow.python.tpu import tpu_strategy_util as tpu_strategy_util
from tpudist.v2_0.tensorflow.python.tpu import training_loop as training_loop

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
