"""The operations below a strategy: start, replicate, sum, on either TPU.

Reference: ``tf.compat.v1.tpu``.
"""

from __future__ import annotations

import collections
import os
from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist import machine
from tpudist.backends import strategies
from tpudist.computations.virtual_computations import VirtualComputations
from tpudist.system import cluster
from tpudist.tfcompat import functions, tpu
from tpudist.virtual import feeds
from tpudist.virtual import system as virtual_system

if TYPE_CHECKING:
    from tpudist.annotations import Fn
    from tpudist.tfcompat.annotations import Operation, Tensor

_last_system = None

#: What a virtual TPU reports of itself to a computation.
TpuContext = collections.namedtuple("TpuContext", ["number_of_shards"])


class RememberedResolver(cluster.TPUClusterResolver):
    """Finds a TPU; the operations of this module use it until another resolver is made."""

    def __init__(self, tpu: Any = None, *args: Any) -> None:
        global _last_system
        super().__init__(tpu, *args)
        _last_system = cluster.system_of(self)


def here() -> Any:
    """The operations of the current strategy's TPU, else TPUDIST_TPU's, else the last found."""
    system = strategies.backend_of(tf.distribute.get_strategy()).system
    name = os.environ.get(machine.TPU)
    if system is None and virtual_system.is_virtual(name):
        system = cluster.described(name)
    system = system or _last_system
    return tpu.Computations if system is None else VirtualComputations(system)


def __getattr__(name: str) -> Fn:
    """The operation of that name on the TPU that is meant; :mod:`tpudist.contrib.tpu` has each."""
    if not hasattr(tpu.Computations, name):
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    return lambda *args: getattr(here(), name)(*args)


class InfeedQueue(tpu.InfeedQueue):
    """TensorFlow's queue, which also sends to the cores of a virtual TPU."""

    @functions.library
    def generate_dequeue_op(self, tpu_device: int = 0) -> list[Tensor]:
        """Takes what the replica's core was sent, a list of tensors.

        Context: replica, or a computation.
        """
        if strategies.virtual_replica() is None:
            return super().generate_dequeue_op(tpu_device)
        self.freeze()
        policies = zip(self.tuple_shapes, self.sharding_policies)
        shapes = [policy.get_sharded_shape(shape) for shape, policy in policies]
        return here().infeed_dequeue_tuple(self.tuple_types, shapes, None)

    def _generate_enqueue_op(
        self,
        inputs: Sequence[Any],
        name_prefix: str,
        index: int,
        device: str | None = None,
        tpu_ordinal: int = -1,
    ) -> Operation:
        where = here()
        if where is tpu.Computations:
            return super()._generate_enqueue_op(inputs, name_prefix, index, device, tpu_ordinal)
        return feeds.INFEED.enqueue([where.core(tpu_ordinal, device, index)], [inputs])


def get_tpu_context() -> object:
    """The context whose ``number_of_shards`` is the number of cores that share a batch.

    Optimizers and batch normalization of their own scale by it; where it is None they
    take what one core has for all.

    Context: any.

    Returns:
      An object with ``number_of_shards``: the number of replicas in a replica function, or in
      the computation of :func:`replicate`; None outside.

    Reference: tensorflow/python/tpu/tpu_function.py, r1.15.
    """
    replica = strategies.virtual_replica()
    return tpu.get_tpu_context() if replica is None else TpuContext(replica.num_replicas_in_sync)


#: Context manager: ``tf.get_variable`` gives bfloat16 views of float32 variables.
bfloat16_scope = tpu.bfloat16_scope
