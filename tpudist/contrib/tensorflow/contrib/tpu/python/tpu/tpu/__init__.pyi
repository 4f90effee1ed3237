# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.computations.split_compilation import rewrite_for_inference as rewrite_for_inference
from tpudist.computations.split_compilation import split_compile_and_replicate as split_compile_and_replicate
from tpudist.computations.split_compilation import split_compile_and_shard as split_compile_and_shard
from tpudist.contrib.tpu import batch_parallel as batch_parallel
from tpudist.contrib.tpu import initialize_system as initialize_system
from tpudist.contrib.tpu import replicate as replicate
from tpudist.contrib.tpu import rewrite as rewrite
from tpudist.contrib.tpu import shard as shard
from tpudist.contrib.tpu import shutdown_system as shutdown_system

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
