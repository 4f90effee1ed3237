"""``tf.contrib.tpu``: the operations below a strategy.

Reference: https://github.com/tensorflow/docs/blob/r1.11/site/en/api_docs/python/tf/contrib/tpu.md
They are TensorFlow's own on a real TPU. The virtual TPU is meant in the scope
and the towers of a strategy on one, where TPUDIST_TPU names one, and after
`tf.contrib.cluster_resolver.TPUClusterResolver` found one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from tpudist.core import adapter
from tpudist.core.computations import cross_shard_optimizer, tpu_ops
from tpudist.core.keras import tpu_models

if TYPE_CHECKING:
    from tpudist.core.annotations import Args, Assignment, Context, Fn


@adapter.library
def initialize_system(embedding_config: Any = None, job: str | None = None) -> Any:
    """A tensor that starts the TPU system and is its topology (r1.11).

    Args:
      embedding_config: of a real TPU's embedding.
      job: job that contains the TPU devices.

    Returns:
      A string tensor, the serialized `Topology`.
    """
    return tpu_ops.initialize_system(embedding_config, job)


@adapter.library
def shutdown_system(job: str | None = None) -> Any:
    """An op that stops the TPU system (r1.11)."""
    return tpu_ops.shutdown_system(job)


@adapter.library
def replicate(
    computation: Fn,
    inputs: Sequence[Args] | None = None,
    infeed_queue: Any = None,
    device_assignment: Assignment = None,
    name: str | None = None,
) -> list[Any]:
    """Runs `computation` once for each list of inputs, on a core each (r1.11).

    Args:
      computation: takes the tensors of one list.
      inputs: lists of tensors, one per replica; None for one replica.
      infeed_queue: an `InfeedQueue`, on a real TPU.
      device_assignment: a `DeviceAssignment`, if any.
      name: name of the op, if any.

    Returns:
      A list with the outputs of each replica; an op for each where
      `computation` returns no tensor.
    """
    return tpu_ops.replicate(computation, inputs, infeed_queue, device_assignment, name)


@adapter.library
def rewrite(
    computation: Fn,
    inputs: Args | None = None,
    infeed_queue: Any = None,
    device_assignment: Assignment = None,
    name: str | None = None,
) -> Any:
    """Runs `computation` on one core (r1.11); arguments as of `replicate`.

    Args:
      computation: takes the tensors of `inputs`.
      inputs: one list of tensors.
      infeed_queue: as of `replicate`.
      device_assignment: as of `replicate`.
      name: as of `replicate`.

    Returns:
      The list of outputs; an op where there is none.
    """
    return tpu_ops.rewrite(computation, inputs, infeed_queue, device_assignment, name)


@adapter.library
def shard(
    computation: Fn,
    inputs: list[Any] | None = None,
    num_shards: int = 1,
    input_shard_axes: Sequence[int] | None = None,
    outputs_from_all_shards: bool | Sequence[bool] = True,
    output_shard_axes: Sequence[int] | None = None,
    infeed_queue: Any = None,
    device_assignment: Assignment = None,
    name: str | None = None,
) -> list[Any]:
    """Runs `computation` on each part of the inputs, on a core each, and joins (r1.11).

    Args:
      computation: takes the tensors of one part.
      inputs: a list of tensors of rank 1 at least; None for none.
      num_shards: number of parts.
      input_shard_axes: the dimension along which each input is split; None is 0 for all.
      outputs_from_all_shards: whether an output is joined, of all or of each; otherwise it
        is the first part's.
      output_shard_axes: the dimension along which each output is joined; None is 0 for all.
      infeed_queue: as of `replicate`.
      device_assignment: as of `replicate`.
      name: as of `replicate`.

    Returns:
      The list of outputs; an op in it where there is none.

    Raises:
      ArgumentError: (a ValueError) no shards, or axes for another number of tensors.
      ArgumentTypeError: (a TypeError) inputs that are no list.
    """
    return tpu_ops.shard(
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


@adapter.library
def batch_parallel(
    computation: Fn,
    inputs: list[Any] | None = None,
    num_shards: int = 1,
    infeed_queue: Any = None,
    device_assignment: Assignment = None,
    name: str | None = None,
) -> list[Any]:
    """`shard` along dimension 0 of all inputs and outputs (r1.11).

    Args:
      computation: takes the tensors of one part.
      inputs: a list of tensors of rank 1 at least; None for none.
      num_shards: number of parts.
      infeed_queue: as of `replicate`.
      device_assignment: as of `replicate`.
      name: as of `replicate`.

    Returns:
      The list of outputs; an op in it where there is none.

    Raises:
      ArgumentError: (a ValueError) no shards.
      ArgumentTypeError: (a TypeError) inputs that are no list.
    """
    return tpu_ops.batch_parallel(
        computation, inputs, num_shards, infeed_queue, device_assignment, name
    )


@adapter.library
def cross_replica_sum(x: Any, group_assignment: Sequence[Sequence[int]] | None = None) -> Any:
    """`x` summed over the towers, or over those of its group (r1.11).

    Context: tower, or a computation of `replicate`.

    Args:
      x: a tensor.
      group_assignment: lists of tower ids, one list per group.

    Returns:
      A tensor of the shape of `x`.

    Raises:
      ContextError: (a RuntimeError) outside of a tower of a virtual TPU.
    """
    return tpu_ops.cross_replica_sum(x, group_assignment)


@adapter.library
def bfloat16_scope() -> Context:
    """A variable scope in which bfloat16 variables are stored as float32 (r1.11).

    Returns:
      A context manager; `tf.get_variable` in it casts to bfloat16.
    """
    return tpu_ops.bfloat16_scope()


def keras_to_tpu_model(model: Any, strategy: Any = None) -> Any:
    """A model of `tf.keras` on the cores of a TPU, each taking its part of a batch (r1.15).

    Args:
      model: a `tf.keras.Model` with inputs, compiled or not; it is copied.
      strategy: a `tf.contrib.tpu.TPUDistributionStrategy`.

    Returns:
      A `tf.keras.Model` with `sync_to_cpu()`. `fit` takes batches of all cores together, and
      functions that return a dataset of one core's batches.

    Raises:
      ArgumentError: (a ValueError) the model's sizes are not fixed.
      ArgumentTypeError: (a TypeError) it is no such model or strategy.
      ContribNameError: (a NotImplementedError) Keras is Keras 3.
    """
    return tpu_models.keras_to_tpu_model(model, strategy)


class CrossShardOptimizer(cross_shard_optimizer.CrossShardOptimizer):
    """An optimizer that averages gradients across TPU shards (r1.11)."""

    def __init__(
        self,
        opt: Any,
        reduction: str = "weighted_mean",
        name: str = "CrossShardOptimizer",
        group_assignment: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Makes an optimizer that averages gradients across TPU shards (r1.11).

        Args:
          opt: a `tf.train.Optimizer`.
          reduction: `tf.losses.Reduction.MEAN` (the default) or `SUM`.
          name: prefix of the names of its ops.
          group_assignment: lists of tower ids, for sums over groups.
        """
        super().__init__(opt, reduction, name, group_assignment)
