"""Members of ``TPUStrategy`` that several eras have in common.

Reference: https://www.tensorflow.org/versions/r2.2/api_docs/python/tf/distribute/experimental/TPUStrategy
The page of each era, and which release has a member natively, is in the table
(`tpudist.surfaces`, compat/SURFACES.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist import adapter

if TYPE_CHECKING:
    from tpudist.annotations import (
        Assignment,
        Context,
        Dataset,
        Extended,
        Fn,
        InputFn,
        InputMode,
        Options,
        ReduceOp,
        Resolver,
    )


@adapter.part_of("TPUStrategy")
class EveryEra:
    """Members of all three eras (r1.15, r2.0, r2.2)."""

    @property
    def extended(self) -> Extended:
        """`tf.distribute.StrategyExtended` with additional methods (r2.2)."""
        return adapter.extended(self)

    @property
    def num_replicas_in_sync(self) -> int:
        """Number of replicas over which gradients are aggregated (r2.2)."""
        return adapter.num_replicas(self)

    @adapter.library
    def scope(self) -> Context:
        """Context manager that makes this strategy current (r2.2).

        Variables created in it are distributed; the block is in
        cross-replica context.
        """
        return adapter.scope(self)

    @adapter.library
    def experimental_local_results(self, value: object) -> tuple[Any, ...]:
        """A tuple of the per-replica values in `value` (r2.2).

        Args:
          value: what the replicas returned, or a variable of the scope.

        Returns:
          One component per replica; `(value,)` if it is a single value, as a dict or tuple of
          per-replica values is. A list was taken for one value per replica until 2.1.
        """
        return adapter.local_results(self, value)

    @adapter.library
    @adapter.shown_as("dataset")
    def experimental_distribute_dataset(self, dataset: Dataset, options: Options = None) -> Any:
        """Splits a dataset of global batches among the replicas (r2.2).

        Context: cross-replica. With several hosts the data is first sharded
        among them, by files where it is read from files.

        Args:
          dataset: a `tf.data.Dataset` batched by the global batch size.
          options: `tf.distribute.InputOptions` of later releases, or None.

        Returns:
          A dataset of per-replica values; in a graph it has
          `make_initializable_iterator()`.
        """
        return adapter.distribute_dataset(self, dataset, options)

    @adapter.library
    @adapter.shown_as("dataset_fn")
    def experimental_distribute_datasets_from_function(
        self, dataset_fn: InputFn, options: Options = None
    ) -> Any:
        """Distributes the datasets that `dataset_fn` makes (r2.2).

        Context: cross-replica. Each replica takes one element a step.

        Args:
          dataset_fn: `dataset_fn(tf.distribute.InputContext)` returns a
            dataset of per-replica batches; called once per host.
          options: as above.

        Returns:
          A dataset of per-replica values, as above.
        """
        return adapter.distribute_datasets_from_function(self, dataset_fn, options)


@adapter.part_of("TPUStrategy")
class FirstGeneration:
    """Members of TensorFlow 1 that every release has kept (r1.15).

    On the pages of 2.x they are not, though the classes answer to them.
    """

    @adapter.library
    def colocate_vars_with(self, colocate_with_variable: object) -> Context:
        """Context manager that controls where variables are created (r1.11).

        Context: in the scope.

        Args:
          colocate_with_variable: a variable of the scope, or what
            `non_slot_devices` returned.
        """
        return adapter.colocate(self, colocate_with_variable)

    @adapter.library
    def configure(
        self,
        session_config: object = None,
        cluster_spec: object = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        """Adapts a `tf.ConfigProto`, in place, to the strategy (r1.11)."""
        adapter.configure(self, session_config, cluster_spec, task_type, task_id)

    @adapter.library
    def update_config_proto(self, config_proto: object) -> Any:
        """A copy of a `tf.ConfigProto`, adapted to the strategy (r1.15)."""
        return adapter.update_config_proto(self, config_proto)

    @adapter.library
    def group(self, value: object, name: str | None = None) -> Any:
        """Shortcut for `tf.group` of the per-replica values (r1.11)."""
        return adapter.group(self, value, name)

    @adapter.library
    def experimental_run(self, fn: Fn, input_iterator: object = None) -> Any:
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
    def make_dataset_iterator(self, dataset: Dataset) -> Any:
        """An iterator that splits global batches among replicas (r1.15).

        Args:
          dataset: a `tf.data.Dataset` batched by the global batch size.

        Returns:
          An iterator; call its `initialize()` (in a graph, run the result).
        """
        return adapter.make_dataset_iterator(self, dataset)

    @adapter.library
    def make_input_fn_iterator(
        self,
        input_fn: InputFn,
        replication_mode: InputMode = tf.distribute.InputReplicationMode.PER_WORKER,
    ) -> Any:
        """An iterator over per-replica batches (r1.15).

        Args:
          input_fn: `input_fn(tf.distribute.InputContext)` returns a dataset
            of per-replica batches; called once per host.
          replication_mode: a `tf.distribute.InputReplicationMode`.

        Returns:
          An iterator; call its `initialize()` (in a graph, run the result).
        """
        return adapter.make_input_fn_iterator(self, input_fn, replication_mode)


@adapter.part_of("TPUStrategy")
class SecondGeneration(EveryEra, FirstGeneration):
    """Members of the 2.0 and the 2.2 era, with the constructor (r2.0, r2.2)."""

    @adapter.library
    def __init__(
        self, tpu_cluster_resolver: Resolver = None, device_assignment: Assignment = None
    ) -> None:
        adapter.initialize(self, tpu_cluster_resolver, device_assignment)

    @adapter.library
    def reduce(self, reduce_op: ReduceOp, value: object, axis: int | None) -> Any:
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
    def unwrap(self, value: object) -> tuple[Any, ...]:
        """The older name of `experimental_local_results` (r1.15)."""
        return adapter.local_results(self, value)

    @adapter.library
    def experimental_make_numpy_dataset(self, numpy_input: object) -> Dataset:
        """A dataset of the rows of numpy arrays (r2.2).

        Args:
          numpy_input: a nest of arrays of equal first dimension; a list is
            stacked.

        Returns:
          A `tf.data.Dataset`; the arrays are not constants of the graph.
        """
        return adapter.make_numpy_dataset(self, numpy_input)


@adapter.part_of("TPUStrategy")
class V1Constructor:
    """The constructor of 1.14 and 1.15, which ``tf.compat.v1`` has kept (r1.15)."""

    @adapter.library
    def __init__(
        self,
        tpu_cluster_resolver: Resolver = None,
        steps_per_run: int | None = None,
        device_assignment: Assignment = None,
    ) -> None:
        adapter.initialize(self, tpu_cluster_resolver, device_assignment, steps_per_run)
