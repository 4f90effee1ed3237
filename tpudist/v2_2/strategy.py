"""``tf.distribute.experimental.TPUStrategy`` of TensorFlow 2.2.

Reference: https://www.tensorflow.org/versions/r2.2/api_docs/python/tf/distribute/experimental/TPUStrategy
"""

from tpudist.core import adapter
from tpudist.v2_2.context import ValueContext


class TPUStrategy(adapter.TPUStrategyBase):
    """TPU distribution strategy with the API of TensorFlow 2.2.

    Reference: tf.distribute.experimental.TPUStrategy, r2.2.

    Args:
      tpu_cluster_resolver: a `TPUClusterResolver`; None for the local TPU.
      device_assignment: optional `DeviceAssignment` that places the replicas.

    Raises:
      TPUNameError: (a ValueError) there is no such TPU.
      TopologyError: (a ValueError) the assignment does not fit the slice.
    """

    @adapter.library
    def __init__(self, tpu_cluster_resolver=None, device_assignment=None):
        """See the class; reference r2.2."""
        adapter.initialize(self, tpu_cluster_resolver, device_assignment)

    @property
    def extended(self):
        """`tf.distribute.StrategyExtended` with additional methods (r2.2)."""
        return adapter.extended(self)

    @property
    def num_replicas_in_sync(self):
        """Number of replicas over which gradients are aggregated (r2.2)."""
        return adapter.num_replicas(self)

    @adapter.library
    def scope(self):
        """Context manager that makes this strategy current (r2.2).

        Variables created in it are distributed; the block is in
        cross-replica context.
        """
        return adapter.scope(self)

    @adapter.library
    def run(self, fn, args=(), kwargs=None, options=None):
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
    def reduce(self, reduce_op, value, axis):
        """Reduces `value` across replicas (r2.2).

        Context: cross-replica; eager, graph or tf.function.

        Args:
          reduce_op: a `tf.distribute.ReduceOp`.
          value: a per-replica value, or a nest of them.
          axis: the batch dimension of each component, to reduce it too, or
            None. MEAN with an axis divides by the true number of examples.

        Returns:
          A tensor, or a nest of them.

        Raises:
          CollectiveError: (a ValueError) components differ in shape and
            `axis` is None.
        """
        return adapter.reduce(self, reduce_op, value, axis)

    @adapter.library
    def experimental_local_results(self, value):
        """A tuple of the per-replica values in `value` (r2.2).

        Args:
          value: what `run` returned, or a variable of the scope.

        Returns:
          One component per replica; `(value,)` if it is a single value.
        """
        return adapter.local_results(self, value)

    @adapter.library
    def experimental_distribute_dataset(self, dataset):
        """Splits a dataset of global batches among the replicas (r2.2).

        Context: cross-replica. With several hosts the data is first sharded
        among them, by files where it is read from files.

        Args:
          dataset: a `tf.data.Dataset` batched by the global batch size.

        Returns:
          A dataset of per-replica values.
        """
        return adapter.distribute_dataset(self, dataset)

    @adapter.library
    def experimental_distribute_datasets_from_function(self, dataset_fn):
        """Distributes the datasets that `dataset_fn` makes (r2.2).

        Context: cross-replica. Each replica takes one element a step.

        Args:
          dataset_fn: `dataset_fn(tf.distribute.InputContext)` returns a
            dataset of per-replica batches; called once per host.

        Returns:
          A dataset of per-replica values.
        """
        return adapter.distribute_datasets_from_function(self, dataset_fn)

    @adapter.library
    def experimental_make_numpy_dataset(self, numpy_input):
        """A dataset of the rows of numpy arrays (r2.2).

        Args:
          numpy_input: a nest of arrays of equal first dimension; a list is
            stacked.

        Returns:
          A `tf.data.Dataset`; the arrays are not constants of the graph.
        """
        return adapter.make_numpy_dataset(self, numpy_input)

    @adapter.library
    def experimental_distribute_values_from_function(self, value_fn):
        """A per-replica value, made by calling `value_fn` per replica (r2.2).

        Args:
          value_fn: `value_fn(ValueContext)` returns a tensor or what can be
            converted to one.

        Returns:
          A `tf.distribute.DistributedValues`.
        """
        return adapter.distribute_values(self, value_fn, ValueContext)

    @adapter.library
    def experimental_split_to_logical_devices(self, tensor, partition_dimensions):
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
    def experimental_replicate_to_logical_devices(self, tensor):
        """Annotates `tensor` to be on all logical devices (r2.2).

        Context: replica function.

        Args:
          tensor: any tensor.

        Returns:
          A tensor of the same value.
        """
        return adapter.replicate_to_logical_devices(self, tensor)

    @adapter.library
    def experimental_assign_to_logical_device(self, tensor, logical_device_id):
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
