# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.contrib.tpu import cross_replica_sum as cross_replica_sum
from tpudist.contrib.tpu import infeed_dequeue as infeed_dequeue
from tpudist.contrib.tpu import infeed_dequeue_tuple as infeed_dequeue_tuple
from tpudist.contrib.tpu import infeed_enqueue as infeed_enqueue
from tpudist.contrib.tpu import infeed_enqueue_tuple as infeed_enqueue_tuple
from tpudist.contrib.tpu import outfeed_dequeue as outfeed_dequeue
from tpudist.contrib.tpu import outfeed_dequeue_tuple as outfeed_dequeue_tuple
from tpudist.contrib.tpu import outfeed_enqueue as outfeed_enqueue
from tpudist.contrib.tpu import outfeed_enqueue_tuple as outfeed_enqueue_tuple

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
