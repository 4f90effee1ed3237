"""What code of TensorFlow 1.13 to 1.15 calls on contrib's ``TPUStrategy``.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/contrib/distribute/TPUStrategy.md
Towers had become replicas, and most of the methods had moved to `extended`.
"""

from tpudist.core import adapter


class ReplicaNames:
    """The later names of the strategy's members (r1.15)."""

    @property
    def extended(self):
        """`tf.distribute.StrategyExtended` with additional methods (r1.15)."""
        return adapter.extended(self)

    @property
    def num_replicas_in_sync(self):
        """Number of replicas over which gradients are aggregated (r1.15)."""
        return adapter.num_replicas(self)

    @property
    def num_replicas(self):
        """The same as `num_replicas_in_sync` (r1.15)."""
        return adapter.num_replicas(self)

    @property
    def steps_per_run(self):
        """Steps of Keras and Estimator in one loop on the device (r1.15)."""
        return adapter.steps_per_run(self)

    @adapter.library
    def call_for_each_replica(self, fn, *args, **kwargs):
        """The same as `call_for_each_tower` (1.13; see r1.15)."""
        return adapter.replicate(self, fn, args, kwargs)

    @adapter.library
    def experimental_run(self, fn, input_iterator=None):
        """Runs `fn` on each replica with inputs from an iterator (r1.15).

        Context: cross-replica; graph, tf.function or eager.

        Args:
          fn: the replica function, of one element of the iterator.
          input_iterator: what `make_dataset_iterator` or
            `make_input_fn_iterator` returned; None for no input.

        Returns:
          What `fn` returned, with a per-replica value for each tensor.
        """
        return adapter.run_on_input(self, fn, input_iterator)

    @adapter.library
    def experimental_run_v2(self, fn, args=(), kwargs=None):
        """Runs `fn` once per replica (r1.15).

        Context: cross-replica; graph, tf.function or eager.

        Args:
          fn: the replica function.
          args: positional arguments; a per-replica value becomes the
            replica's component.
          kwargs: keyword arguments, likewise.

        Returns:
          What `fn` returned, with a per-replica value for each tensor.
        """
        return adapter.run(self, fn, args, kwargs)

    @adapter.library
    def experimental_local_results(self, value):
        """A tuple of the per-replica values in `value` (r1.15)."""
        return adapter.local_results(self, value)

    @adapter.library
    def make_dataset_iterator(self, dataset):
        """An iterator that splits global batches among replicas (r1.15).

        Args:
          dataset: a `tf.data.Dataset` batched by the global batch size.

        Returns:
          An iterator; call its `initialize()` (in a graph, run the result).
        """
        return adapter.make_dataset_iterator(self, dataset)

    @adapter.library
    def make_input_fn_iterator(self, input_fn, *replication_mode):
        """An iterator over per-replica batches (r1.15).

        Args:
          input_fn: `input_fn(tf.distribute.InputContext)` returns a dataset
            of per-replica batches; called once per host.
          *replication_mode: a `tf.distribute.InputReplicationMode`, if any.

        Returns:
          An iterator; call its `initialize()` (in a graph, run the result).
        """
        return adapter.make_input_fn_iterator(self, input_fn, *replication_mode)

    @adapter.library
    def experimental_distribute_dataset(self, dataset, options=None):
        """Splits a dataset of global batches among the replicas (r1.15).

        Args:
          dataset: a `tf.data.Dataset` batched by the global batch size.
          options: `tf.distribute.InputOptions` of later releases, or None.

        Returns:
          A dataset of per-replica values; in a graph it has
          `make_initializable_iterator()`.
        """
        return adapter.distribute_dataset(self, dataset, options)

    @adapter.library
    def experimental_distribute_datasets_from_function(self, dataset_fn, options=None):
        """Distributes the datasets that `dataset_fn` makes (r1.15).

        Args:
          dataset_fn: `dataset_fn(tf.distribute.InputContext)` returns a
            dataset of per-replica batches; called once per host.
          options: as above.

        Returns:
          A dataset of per-replica values, as above.
        """
        return adapter.distribute_datasets_from_function(self, dataset_fn, options)

    @adapter.library
    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        """A dataset of the rows of numpy arrays (r1.15).

        Args:
          numpy_input: a nest of arrays of equal first dimension.
          session: in a graph, initialises the variables that hold them.

        Returns:
          A `tf.data.Dataset`; the arrays are not constants of the graph.
        """
        return adapter.make_numpy_dataset(self, numpy_input, session)
