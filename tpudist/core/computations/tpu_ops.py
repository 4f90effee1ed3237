"""The operations below a strategy: start, replicate, sum, on either TPU.

Reference: ``tf.compat.v1.tpu``.
"""

from __future__ import annotations

import collections
import os
from typing import Any

import tensorflow as tf

from tpudist import machine
from tpudist.core.backends import strategies
from tpudist.core.computations.virtual_computations import VirtualComputations, virtual_replica
from tpudist.core.system import cluster
from tpudist.tfcompat import tpu
from tpudist.virtual import system as virtual_system

_last_system = None

#: What a virtual TPU tells a computation of itself.
TpuContext = collections.namedtuple("TpuContext", ["number_of_shards"])


class RememberedResolver(cluster.TPUClusterResolver):
    """Finds a TPU; the operations of this module use it until another resolver is made."""

    def __init__(self, tpu: Any = None, *args: Any) -> None:
        global _last_system
        if isinstance(tpu, (list, tuple)) and len(tpu) == 1:
            tpu = tpu[0]
        super().__init__(tpu, *args)
        _last_system = cluster.system_of(self)


def _here() -> Any:
    """The operations of the current strategy's TPU, else TPUDIST_TPU's, else the last found."""
    system = strategies.backend_of(tf.distribute.get_strategy()).system
    name = os.environ.get(machine.TPU)
    if system is None and virtual_system.is_virtual(name):
        system = cluster.described(name)
    system = system or _last_system
    return tpu.Computations if system is None else VirtualComputations(system)


def _operation(name: str) -> Any:
    """The operation of that name on the TPU that is meant; it takes all arguments of TensorFlow's.

    :mod:`tpudist.contrib.tpu` documents each.
    """
    return lambda *args: getattr(_here(), name)(*args)


batch_parallel = _operation("batch_parallel")
cross_replica_sum = _operation("cross_replica_sum")
initialize_system = _operation("initialize_system")
replicate = _operation("replicate")
rewrite = _operation("rewrite")
shard = _operation("shard")
shutdown_system = _operation("shutdown_system")


def get_tpu_context() -> Any:
    """What programs ask for the number of cores that share a batch.

    Optimizers and batch normalization of their own scale by it; where it is None they
    take what one core has for all.

    Context: any.

    Returns:
      An object with ``number_of_shards``: the number of replicas in a replica function, or in
      the computation given to :func:`replicate`; None outside.

    Reference: tensorflow/python/tpu/tpu_function.py, r1.15.
    """
    replica = virtual_replica()
    return tpu.get_tpu_context() if replica is None else TpuContext(replica.num_replicas_in_sync)


#: Context manager: ``tf.get_variable`` gives bfloat16 views of float32 variables.
bfloat16_scope = tpu.bfloat16_scope
