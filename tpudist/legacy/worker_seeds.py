"""Seeds what a program on a cluster leaves unseeded, so that all workers draw alike.

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
from tpudist.legacy import quirks
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

    It is a global seed for the ops that have none of their own; the others draw as without it.
    Replicas still differ from each other.
    """
    import numpy as np
    import tensorflow as tf

    from tpudist.tfcompat import random_seeds

    number = seed()
    random.seed(number)
    np.random.seed(number)
    graph: Any = tf.Graph
    of_graph, native = graph.seed, random_seeds.module().get_seed

    def read(self: Any) -> int:
        given = of_graph.fget(self)
        return number if given is None else int(given)

    def get_seed(op_seed: Any) -> Any:
        is_drawn = op_seed is not None and random_seeds.global_seed() == number
        return random_seeds.own_seeds(op_seed) if is_drawn else native(op_seed)

    seeded = property(read, of_graph.fset)
    with quirks.patched([(graph, "seed", seeded), (random_seeds.module(), "get_seed", get_seed)]):
        tf.compat.v1.set_random_seed(number)
        yield
