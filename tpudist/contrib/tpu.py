"""``tf.contrib.tpu``: the operations below a strategy.

Reference: https://github.com/tensorflow/docs/blob/r1.11/site/en/api_docs/python/tf/contrib/tpu.md
They are TensorFlow's own on a real TPU. The virtual TPU is meant in the scope
and the towers of a strategy on one, where TPUDIST_TPU names one, and after
`tf.contrib.cluster_resolver.TPUClusterResolver` found one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from tpudist import adapter
from tpudist.computations import cross_shard_optimizer, tpu_ops
from tpudist.keras import tpu_models

if TYPE_CHECKING:
    from tpudist.annotations import Args, Assignment, Context, Fn, Integer, Operation, Tensor


@adapter.library
def initialize_system(embedding_config: object = None, job: str | None = None) -> Any:
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
    infeed_queue: object = None,
    device_assignment: Assignment = None,
    name: str | None = None,
) -> list[Any]:
    """Runs `computation` once for each list of inputs, on a core each (r1.11).

    Args:
      computation: takes the tensors of one list.
      inputs: lists of tensors, one per replica; None for one replica.
      infeed_queue: an `InfeedQueue`, from which it takes further arguments.
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
    infeed_queue: object = None,
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
    infeed_queue: object = None,
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
    infeed_queue: object = None,
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
def cross_replica_sum(x: object, group_assignment: Sequence[Sequence[int]] | None = None) -> Any:
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
def repeat(
    n: Integer, body: Fn, inputs: Any = None, infeed_queue: Any = None, name: str | None = None
) -> Any:
    """Runs `body` `n` times in one loop on the device; the cores may meet in it (r1.11).

    Context: tower, or a computation of `replicate`.

    Args:
      n: number of steps, or a scalar integer tensor.
      body: takes the values of the loop, then the tensors of `infeed_queue`; returns as many
        values, of the same types, and any ops.
      inputs: the values of the first step, a list of tensors or one; None for none.
      infeed_queue: an `InfeedQueue`, from which each step takes a tuple.
      name: unused.

    Returns:
      The list of values after the last step; an op if there are none.

    Raises:
      ArgumentTypeError: (a TypeError) `body` returns other types than it takes.
    """
    return tpu_ops.repeat(n, body, inputs, infeed_queue, name)


@adapter.library
def while_loop(
    condition: Fn, body: Fn, inputs: Any = None, infeed_queue: Any = None, name: str | None = None
) -> Any:
    """Runs `body` as long as `condition` holds, in one loop on the device (r1.11).

    Context: tower, or a computation of `replicate`. Where the cores meet in `body`, the
    condition is the same on all of them.

    Args:
      condition: takes the values of the loop; returns a boolean scalar.
      body: as of `repeat`.
      inputs: as of `repeat`.
      infeed_queue: as of `repeat`.
      name: unused.

    Returns:
      The value for which `condition` does not hold, or the list of them.

    Raises:
      ArgumentTypeError: (a TypeError) `body` returns other types than it takes.
    """
    return tpu_ops.while_loop(condition, body, inputs, infeed_queue, name)


@adapter.library
def infeed_enqueue(
    input: Tensor,
    shape: Sequence[int] = [],
    layout: Sequence[int] = [],
    device_ordinal: int = -1,
    name: str | None = None,
) -> Operation:
    """Sends one tensor to a core's infeed (r1.11); see `infeed_enqueue_tuple`."""
    return tpu_ops.infeed_enqueue(input, shape, layout, device_ordinal, name)


@adapter.library
def infeed_enqueue_tuple(
    inputs: Sequence[Tensor],
    shapes: Sequence[Any],
    layouts: Sequence[int] = [],
    device_ordinal: int = -1,
    name: str | None = None,
) -> Operation:
    """Sends a tuple of tensors to a core's infeed (r1.11).

    Context: the host's program, in any Session of the process.

    Args:
      inputs: the tensors.
      shapes: the shape of each.
      layouts: of a real TPU.
      device_ordinal: the core's number on its host; -1 in a `tf.device` block of the core.
      name: name of the op, if any.

    Returns:
      An op that waits until the infeed has room.

    Raises:
      ArgumentError: (a ValueError) there is no such core.
    """
    return tpu_ops.infeed_enqueue_tuple(inputs, shapes, layouts, device_ordinal, name)


@adapter.library
def infeed_dequeue(dtype: object, shape: object, name: str | None = None) -> Tensor:
    """Takes one tensor that the tower's core was sent (r1.11); see `infeed_dequeue_tuple`."""
    return tpu_ops.infeed_dequeue(dtype, shape, name)


@adapter.library
def infeed_dequeue_tuple(
    dtypes: Sequence[Any], shapes: Sequence[Any], name: str | None = None
) -> list[Tensor]:
    """Takes a tuple that the tower's core was sent; waits until there is one (r1.11).

    Context: tower, or a computation of `replicate`.

    Args:
      dtypes: the type of each tensor.
      shapes: the shape of each.
      name: name of the op, if any.

    Returns:
      A list of tensors.

    Raises:
      ContextError: (a RuntimeError) outside of a tower of a virtual TPU.
    """
    return tpu_ops.infeed_dequeue_tuple(dtypes, shapes, name)


@adapter.library
def outfeed_enqueue(input: Tensor, name: str | None = None) -> Operation:
    """Sends one tensor of the tower to the host (r1.11); see `outfeed_enqueue_tuple`."""
    return tpu_ops.outfeed_enqueue(input, name)


@adapter.library
def outfeed_enqueue_tuple(inputs: Sequence[Tensor], name: str | None = None) -> Operation:
    """Sends a tuple of tensors of the tower to the host (r1.11).

    Context: tower, or a computation of `replicate`.

    Args:
      inputs: the tensors.
      name: name of the op, if any.

    Returns:
      An op.

    Raises:
      ContextError: (a RuntimeError) outside of a tower of a virtual TPU.
    """
    return tpu_ops.outfeed_enqueue_tuple(inputs, name)


@adapter.library
def outfeed_dequeue(
    dtype: object, shape: object, device_ordinal: int = -1, name: str | None = None
) -> Tensor:
    """Takes one tensor that a core sent (r1.11); see `outfeed_dequeue_tuple`."""
    return tpu_ops.outfeed_dequeue(dtype, shape, device_ordinal, name)


@adapter.library
def outfeed_dequeue_tuple(
    dtypes: Sequence[Any], shapes: Sequence[Any], device_ordinal: int = -1, name: str | None = None
) -> list[Tensor]:
    """Takes a tuple that a core sent; waits until there is one (r1.11).

    Context: the host's program, in any Session of the process.

    Args:
      dtypes: the type of each tensor.
      shapes: the shape of each.
      device_ordinal: as of `infeed_enqueue_tuple`.
      name: name of the op, if any.

    Returns:
      A list of tensors.

    Raises:
      ArgumentError: (a ValueError) there is no such core.
    """
    return tpu_ops.outfeed_dequeue_tuple(dtypes, shapes, device_ordinal, name)


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
        opt: object,
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


class InfeedQueue(tpu_ops.InfeedQueue):
    """A queue that feeds tuples of tensors to the cores of a TPU (r1.11)."""

    def __init__(
        self,
        number_of_tuple_elements: int | None = None,
        tuple_types: Sequence[Any] | None = None,
        tuple_shapes: Sequence[Any] | None = None,
        shard_dimensions: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        """Makes a queue that feeds tuples of tensors to the cores of a TPU (r1.11).

        Args:
          number_of_tuple_elements: number of tensors of a tuple; None if another argument has it.
          tuple_types: the type of each; None if it is known later.
          tuple_shapes: the shape of each, of all shards together; None if it is known later.
          shard_dimensions: the dimension along which each is split; None is 0 for all.
          name: prefix of the names of its ops.
        """
        super().__init__(
            number_of_tuple_elements, tuple_types, tuple_shapes, shard_dimensions, name
        )
