# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.v2_0.tensorflow.python.estimator.export import export as export
from tpudist.v2_0.tensorflow.python.estimator.export import export_lib as export_lib
from tpudist.v2_0.tensorflow.python.estimator.export import export_output as export_output

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
