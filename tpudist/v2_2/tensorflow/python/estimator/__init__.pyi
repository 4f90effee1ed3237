# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_2.tensorflow.python.estimator import estimator as estimator
from tpudist.v2_2.tensorflow.python.estimator import estimator_lib as estimator_lib
from tpudist.v2_2.tensorflow.python.estimator import export as export
from tpudist.v2_2.tensorflow.python.estimator import exporter as exporter
from tpudist.v2_2.tensorflow.python.estimator import model_fn as model_fn
from tpudist.v2_2.tensorflow.python.estimator import run_config as run_config
from tpudist.v2_2.tensorflow.python.estimator import training as training

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
