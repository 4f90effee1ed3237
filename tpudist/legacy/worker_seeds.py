"""What a program on a cluster draws without a seed of its own, it draws alike on all workers.

A pod had one client: what its Python shuffled was one order. The seed is TPUDIST_SEED, which
``tpudist launch`` sets; without it one of the cluster in TF_CONFIG.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import zlib
from typing import Any, Iterator

from tpudist import machine
from tpudist.system import tasks


def seed() -> int:
    """The seed, the same on all workers, from 0 to 2**31 - 1."""
    given = os.environ.get(machine.SEED, "")
    if given.isdigit():
        return int(given) % 2**31
    cluster = json.loads(os.environ.get(tasks.VARIABLE) or "{}").get("cluster")
    return zlib.crc32(json.dumps(cluster, sort_keys=True).encode("utf-8")) % 2**31


@contextlib.contextmanager
def alike_on_all() -> Iterator[None]:
    """Context manager: Python, NumPy and TensorFlow draw by the seed in the block.

    A graph that has no seed of its own has this one; replicas still differ from each other.
    """
    import numpy as np
    import tensorflow as tf

    number = seed()
    random.seed(number)
    np.random.seed(number)
    graph: Any = tf.Graph
    own = graph.seed

    def read(self: Any) -> int:
        given = own.fget(self)
        return number if given is None else int(given)

    graph.seed = property(read, own.fset)
    tf.compat.v1.set_random_seed(number)
    try:
        yield
    finally:
        graph.seed = own
