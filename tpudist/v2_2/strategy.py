"""``tf.distribute.experimental.TPUStrategy`` of TensorFlow 2.2.

Reference: https://www.tensorflow.org/versions/r2.2/api_docs/python/tf/distribute/experimental/TPUStrategy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from tpudist import adapter
from tpudist.common.strategy import SecondGeneration
from tpudist.v2_2.context import ValueContext

if TYPE_CHECKING:
    import tensorflow as tf

    from tpudist.annotations import Args, Fn, Kwargs, Options


class TPUStrategy(SecondGeneration, adapter.TPUStrategyBase):
    """TPU distribution strategy with the API of TensorFlow 2.2.

    Reference: tf.distribute.experimental.TPUStrategy, r2.2.

    Args:
      tpu_cluster_resolver: a `TPUClusterResolver`; None for the local TPU.
      device_assignment: optional `DeviceAssignment` that places the replicas.

    Raises:
      TPUNameError: (a ValueError) there is no such TPU.
      TopologyError: (a ValueError) the assignment does not fit the slice.
    """

    _nests_taken_apart = "none"

    @adapter.library
    def run(self, fn: Fn, args: Args = (), kwargs: Kwargs = None, options: Options = None) -> Any:
        """Runs `fn` once per replica (r2.2).

        Context: cross-replica; graph or tf.function, or eager with `fn` a
        tf.function.

        Args:
          fn: the replica function; its output is a nest of tensors.
          args: positional arguments; a per-replica value becomes the
            replica's component.
          kwargs: keyword arguments, likewise.
          options: optional `tf.distribute.RunOptions`.

        Returns:
          What `fn` returned, a per-replica value for each tensor.

        Raises:
          EagerRunError: (a NotImplementedError) a plain function in eager
            mode.
          ContextError: (a RuntimeError) called inside a replica function.
        """
        return adapter.run(self, fn, args, kwargs, options, refuse_eager=True)

    @adapter.library
    def experimental_run_v2(
        self, fn: Fn, args: Args = (), kwargs: Kwargs = None, options: Options = None
    ) -> Any:
        """The older name of `run`, deprecated, which 2.2 and 2.3 still had (r2.2)."""
        return adapter.run(self, fn, args, kwargs, options, refuse_eager=True)

    @adapter.library
    def experimental_distribute_values_from_function(
        self, value_fn: Callable[[ValueContext], Any]
    ) -> Any:
        """A per-replica value, made by calling `value_fn` per replica (r2.2).

        Args:
          value_fn: `value_fn(ValueContext)` returns a tensor or what can be
            converted to one.

        Returns:
          A `tf.distribute.DistributedValues`.
        """
        return adapter.distribute_values(self, value_fn, ValueContext)

    @adapter.library
    def experimental_split_to_logical_devices(
        self, tensor: object, partition_dimensions: Sequence[int]
    ) -> tf.Tensor:
        """Annotates `tensor` to be split across logical devices (r2.2).

        Context: replica function.

        Args:
          tensor: a tensor of rank r.
          partition_dimensions: r integers whose product is the number of
            logical devices per replica.

        Returns:
          A tensor of the same value.

        Raises:
          ShardingError: (a ValueError) the rank, the product, or a dimension
            that is not divisible.
        """
        return adapter.split_to_logical_devices(self, tensor, partition_dimensions)

    @adapter.library
    def experimental_replicate_to_logical_devices(self, tensor: object) -> tf.Tensor:
        """Annotates `tensor` to be on all logical devices (r2.2).

        Context: replica function.

        Args:
          tensor: any tensor.

        Returns:
          A tensor of the same value.
        """
        return adapter.replicate_to_logical_devices(self, tensor)

    @adapter.library
    def experimental_assign_to_logical_device(
        self, tensor: object, logical_device_id: int
    ) -> tf.Tensor:
        """Annotates `tensor` to be on one logical device (r2.2).

        Context: replica function.

        Args:
          tensor: any tensor.
          logical_device_id: 0 to the number of logical devices - 1.

        Returns:
          A tensor of the same value.

        Raises:
          ShardingError: (a ValueError) there is no such logical device.
        """
        return adapter.assign_to_logical_device(self, tensor, logical_device_id)
