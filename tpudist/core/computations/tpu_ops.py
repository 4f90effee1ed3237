"""The operations below a strategy: start, replicate, sum, on either TPU.

Reference: ``tf.compat.v1.tpu``.
"""

from __future__ import annotations

import collections
import os
from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist import machine
from tpudist.core.backends import strategies
from tpudist.core.computations.virtual_computations import VirtualComputations, virtual_replica
from tpudist.core.system import cluster
from tpudist.tfcompat import tpu
from tpudist.virtual import system as virtual_system

if TYPE_CHECKING:
    from tpudist.core.annotations import Fn


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


def initialize_system(embedding_config: Any = None, job: str | None = None) -> Any:
    """An op that starts the TPU system.

    Returns:
      A string tensor, the serialized `Topology`.
    """
    return _here().initialize_system(embedding_config, job)


def shutdown_system(job: str | None = None) -> Any:
    """An op that stops the TPU system; nothing is done for a virtual one."""
    return _here().shutdown_system(job)


def cross_replica_sum(x: Any, group_assignment: Any = None) -> Any:
    """`x` summed over the replicas, or over those of its group.

    Context: replica, or the computation given to :func:`replicate`.

    Args:
      x: a tensor.
      group_assignment: None, or lists of replica ids: one list per group.

    Raises:
      ContextError: (a RuntimeError) outside of a replica of a virtual TPU.
      ArgumentError: (a ValueError) the groups are not a partition.
    """
    return _here().cross_replica_sum(x, group_assignment)


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


def replicate(
    computation: Fn,
    inputs: Any = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
) -> Any:
    """Runs `computation` once for each list of inputs, on a core each.

    Context: a graph or a ``tf.function``; in a strategy's scope it runs on
    that strategy's replicas.

    Args:
      computation: takes the tensors of one list; its stateful ops all run.
      inputs: one list of tensors per replica; None for one replica without inputs.
      infeed_queue: for a real TPU only.
      device_assignment: a `DeviceAssignment` for the same number of replicas.
      name: name of the op, on a real TPU.

    Returns:
      A list with one entry per replica: the list of tensors (or the nest)
      that `computation` returned, or an op if it returned no tensor.

    Raises:
      ArgumentError: (a ValueError) lists of different lengths, or an infeed
        queue.
      ContextError: (a RuntimeError) in the scope of another number of
        replicas, or in a replica.
    """
    return _here().replicate(computation, inputs, infeed_queue, device_assignment, name)


def rewrite(
    computation: Fn,
    inputs: Any = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
) -> Any:
    """Runs `computation` on one core; see :func:`replicate`.

    Returns:
      What :func:`replicate` returns for the one replica.
    """
    return _here().rewrite(computation, inputs, infeed_queue, device_assignment, name)


def shard(
    computation: Fn,
    inputs: Any = None,
    num_shards: int = 1,
    input_shard_axes: Any = None,
    outputs_from_all_shards: bool | Sequence[bool] = True,
    output_shard_axes: Any = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
) -> Any:
    """Splits each input, runs `computation` on each part on a core, and concatenates outputs.

    Args:
      computation: takes the tensors of one part.
      inputs: a list of tensors of rank 1 at least, or None.
      num_shards: number of parts, a positive int.
      input_shard_axes: the dimension along which each input is split; None is 0 for all.
      outputs_from_all_shards: a bool, or one per output; False is the first part's output.
      output_shard_axes: the dimension along which the parts of each output are concatenated; None
        is 0 for all. Scalars are stacked.
      infeed_queue, device_assignment, name: as of :func:`replicate`.

    Returns:
      The list of concatenated outputs; [an op] if `computation` returned no tensor.

    Raises:
      ArgumentError: (a ValueError) no shards, or axes for another number of tensors.
      ArgumentTypeError: (a TypeError) inputs that are no list.
      ContextError: as of :func:`replicate`.
    """
    return _here().shard(
        computation,
        inputs,
        num_shards,
        input_shard_axes,
        outputs_from_all_shards,
        output_shard_axes,
        infeed_queue,
        device_assignment,
        name,
    )


def batch_parallel(
    computation: Fn,
    inputs: Any = None,
    num_shards: int = 1,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
) -> Any:
    """:func:`shard` along dimension 0 of all inputs and outputs."""
    queue, assignment = infeed_queue, device_assignment
    return shard(computation, inputs, num_shards, None, True, None, queue, assignment, name)


#: Context manager: ``tf.get_variable`` gives bfloat16 views of float32 variables.
bfloat16_scope = tpu.bfloat16_scope
