"""``tf.contrib.distribute.TPUStrategy`` of TensorFlow 1.11.

Reference: https://github.com/tensorflow/docs/blob/r1.11/site/en/api_docs/python/tf/contrib/distribute/TPUStrategy.md
What the same class is called with in code of 1.13 to 1.15 is in
:mod:`tpudist.contrib.replicas`, what later eras have too in :mod:`tpudist.common.strategy`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

from tpudist import adapter
from tpudist.common.strategy import EveryEra, FirstGeneration
from tpudist.contrib.context import MultiStepContext
from tpudist.contrib.inputs import PerDeviceDataset
from tpudist.contrib.replicas import ReplicaNames

if TYPE_CHECKING:
    from tpudist.annotations import Args, Assignment, DatasetFn, Fn, Integer, Ops, Resolver


class TPUStrategy(ReplicaNames, EveryEra, FirstGeneration, adapter.ScalingStrategyBaseV1):
    """TPU distribution strategy with the API of TensorFlow 1.11.

    Reference: tf.contrib.distribute.TPUStrategy, r1.11. Optimizers of
    ``tf.train`` divide a mean loss by `num_towers`, as those of 1.11 to 1.13;
    not in `experimental_run_v2` (1.14), nor, outside of `call_for_each_tower`,
    in a program that starts the TPU itself, as those of 1.14 do.

    Args:
      tpu_cluster_resolver: a `TPUClusterResolver`.
      steps_per_run: steps of Keras and Estimator in one loop on the device;
        `run_steps_on_dataset` is told by its own argument.
      num_cores: use only that many cores; None for all of the slice.
      device_assignment: (1.14, instead of `num_cores`; there all arguments
        are optional) a `DeviceAssignment` that places the towers.

    Raises:
      TPUNameError: (a ValueError) there is no such TPU.
      TopologyError: (a ValueError) more cores than the slice has.
    """

    _words = adapter.Words(
        "distribution_strategy.scope()",
        "DistributionStrategy",
        "tower",
        "get_tower_context()",
        "call_for_each_tower()",
    )

    @adapter.library
    @adapter.shown_as("tpu_cluster_resolver", "steps_per_run", ("num_cores", None))
    def __init__(
        self,
        tpu_cluster_resolver: Resolver = None,
        steps_per_run: int | None = None,
        num_cores: int | None = None,
        device_assignment: Assignment = None,
    ) -> None:
        adapter.initialize(self, tpu_cluster_resolver, device_assignment, steps_per_run, num_cores)

    @property
    def num_towers(self) -> int:
        """Number of towers, for purposes of averaging across towers (r1.11)."""
        return adapter.num_replicas(self)

    @property
    def is_single_tower(self) -> bool:
        """Whether there is a single tower (r1.11)."""
        return adapter.is_single(self)

    @property
    def num_hosts(self) -> int:
        """Number of hosts of the slice (r1.11)."""
        return adapter.num_hosts(self)

    @property
    def num_towers_per_host(self) -> int:
        """Number of towers that one host feeds (r1.11)."""
        return adapter.replicas_per_host(self)

    @property
    def worker_devices(self) -> list[str]:
        """List of the devices that run `call_for_each_tower` (r1.11)."""
        return adapter.worker_devices(self)

    @property
    def parameter_devices(self) -> list[str]:
        """List of the devices for variables and `update` (r1.11)."""
        return adapter.parameter_devices(self)

    @property
    def worker_device_index(self) -> object:
        """Each tower's number, as an argument of `call_for_each_tower` (r1.11).

        Context: cross-tower, in the scope. A tower function gets an integer
        in a graph and in eager mode, and an int32 scalar tensor where one
        trace serves all towers (`run_steps_on_dataset`, tf.function).

        Returns:
          A per-device value; the integer 0 if there is a single tower.
        """
        return adapter.replica_ids(self)

    @property
    def between_graph(self) -> bool:
        """Whether the strategy uses between-graph replication (r1.11)."""
        return adapter.between_graph(self)

    @property
    def should_init(self) -> bool:
        """Whether initialization is needed (r1.11)."""
        return adapter.should_init(self)

    @property
    def should_checkpoint(self) -> bool:
        """Whether checkpointing is needed (r1.11)."""
        return adapter.should_checkpoint(self)

    @property
    def should_save_summary(self) -> bool:
        """Whether saving summaries is needed (r1.11)."""
        return adapter.should_save_summary(self)

    @adapter.library
    def call_for_each_tower(self, fn: Fn, *args: Any, **kwargs: Any) -> Any:
        """Runs `fn` once per tower (r1.11).

        Context: cross-tower, in the scope; graph, tf.function or eager. In
        eager mode, which contrib's TPUStrategy did not have, as on its
        MirroredStrategy: one tower after the other, op by op.

        Args:
          fn: the tower function; `get_tower_context()` works in it.
          *args: its arguments; a per-device value becomes the tower's part.
          **kwargs: likewise; `run_concurrently` is not passed on.

        Returns:
          What `fn` returned, with a per-device value for each tensor.

        Raises:
          ContextError: (a RuntimeError) outside of the scope, or in a tower.
        """
        return adapter.replicate_dividing_losses(self, fn, args, kwargs)

    @adapter.library
    def run_steps_on_dataset(
        self, fn: Fn, iterator: object, iterations: Integer = 1, initial_loop_values: object = None
    ) -> MultiStepContext:
        """Runs `fn` `iterations` times in one loop on the device (r1.11).

        Context: cross-tower, in the scope; in a graph the loop is built, in
        eager mode it runs at once. `fn` is traced once, and its stateful ops
        run even if nothing depends on them, as in a TPU computation.

        Args:
          fn: `fn(context, *inputs)`; calls `call_for_each_tower` itself.
          iterator: of `distribute_dataset`, or any that has `get_next()`; a
            tuple from it is unpacked.
          iterations: integer, or scalar integer tensor.
          initial_loop_values: optional values of the outputs before the first
            step, by name or flat in the order of the sorted names.

        Returns:
          The `MultiStepContext`, with `run_op` (None in eager mode),
          `last_step_outputs` and `non_tensor_outputs`.

        Raises:
          ArgumentError: (a ValueError) a bad `iterations` or initial value.
          ContextError: (a RuntimeError) outside of the scope, or in a tower.
          DatasetEndError: (a tf.errors.OutOfRangeError, eager) the dataset
            ended before the last step.
        """
        return adapter.run_steps(
            self, fn, iterator, iterations, initial_loop_values, MultiStepContext()
        )

    @adapter.library
    def distribute_dataset(self, dataset_fn: DatasetFn) -> PerDeviceDataset:
        """A dataset from which each tower takes an element of its own (r1.11).

        A step of 8 towers takes 8 elements; with several hosts each host
        reads a dataset of its own.

        Args:
          dataset_fn: returns a `tf.data.Dataset` of one tower's batches;
            called once per host.

        Returns:
          A `PerDeviceDataset`.
        """
        return adapter.per_replica_dataset(self, dataset_fn, PerDeviceDataset)

    @adapter.library
    def unwrap(self, value: object) -> list[Any]:
        """The list of all per-device values contained in `value` (r1.11).

        Args:
          value: what `call_for_each_tower` returned, or a variable.

        Returns:
          A list, one per tower; `[value]` of a single value; a list that has
          no per-device values is returned as it is.
        """
        return adapter.unwrap(self, value)

    @adapter.library
    @adapter.shown_as("aggregation", "value", "destinations")
    def reduce(
        self,
        aggregation: object = None,
        value: object = None,
        destinations: object = None,
        axis: int | None = None,
        reduce_op: object = None,
    ) -> Any:
        """Combines values across towers (r1.11).

        Context: cross-tower. Without `destinations`, or with `reduce_op` and
        `axis`, it is the method of 1.13 to 1.15 and returns one tensor.

        Args:
          aggregation: `VariableAggregation` SUM, MEAN or ONLY_FIRST_TOWER, or
            a `ReduceOp`.
          value: a per-device value, or a list with one value per tower.
          destinations: a mirrored variable, a per-device value, a device
            string or a list of device strings.
          axis: the batch dimension of each component, to reduce it too.
          reduce_op: the same as `aggregation`.

        Returns:
          A value mirrored to `destinations`; a tensor if that is one device.

        Raises:
          CollectiveError: (a ValueError) shapes or dtypes of towers differ.
        """
        return adapter.reduce_to(self, reduce_op or aggregation, value, destinations, axis)

    @adapter.library
    def batch_reduce(
        self, aggregation: object, value_destination_pairs: Iterable[tuple[Any, Any]]
    ) -> list[Any]:
        """Combines several `reduce` calls into one (r1.11).

        Context: cross-tower.

        Args:
          aggregation: as of `reduce`.
          value_destination_pairs: a sequence of (value, destinations).

        Returns:
          A list of mirrored values, one per pair.
        """
        return adapter.batch_reduce(self, aggregation, value_destination_pairs)

    @adapter.library
    def broadcast(self, tensor: object, destinations: object = None) -> Any:
        """Mirrors a tensor to all worker devices or to `destinations` (r1.11).

        Context: cross-tower.

        Args:
          tensor: a tensor.
          destinations: a mirrored variable, a device string or a list of
            them; None for `worker_devices`.

        Returns:
          A mirrored value; a tensor if it is for one device.
        """
        return adapter.broadcast(self, tensor, destinations)

    @adapter.library
    def update(self, var: object, fn: Fn, *args: Any, **kwargs: Any) -> Any:
        """Calls `fn` for every copy of `var` (r1.11).

        Context: cross-tower.

        Args:
          var: the variable to update.
          fn: `fn(copy_of_var, *args, **kwargs)`.
          *args: mirrored values among them are taken apart.
          **kwargs: likewise; `grouped=False` (1.12) asks for a list.

        Returns:
          The merged results, which run all the updates.

        Raises:
          PerReplicaError: (a ValueError) a per-device value as argument.
        """
        return adapter.update(self, var, fn, args, kwargs)

    @adapter.library
    def update_non_slot(self, colocate_with: object, fn: Fn, *args: Any, **kwargs: Any) -> Any:
        """Calls `fn` on the devices `colocate_with` (r1.11).

        Context: cross-tower.

        Args:
          colocate_with: what `non_slot_devices` returned.
          fn: `fn(*args, **kwargs)`.
          *args: as of `update`.
          **kwargs: as of `update`.

        Returns:
          The result, possibly merged across devices.
        """
        return adapter.update_non_slot(self, colocate_with, fn, args, kwargs)

    @adapter.library
    def read_var(self, tower_local_var: object) -> Any:
        """The aggregate value of a tower-local variable, a tensor (r1.11)."""
        return adapter.read(self, tower_local_var)

    @adapter.library
    def value_container(self, value: object) -> Any:
        """The container that a per-device `value` belongs to (r1.11).

        Args:
          value: a component of a variable or any other value.

        Returns:
          The variable that it is a component of, else `value`.
        """
        return adapter.value_container(self, value)

    @adapter.library
    def non_slot_devices(self, var_list: Args) -> list[str]:
        """List of the devices for variables that are no slots (r1.11)."""
        return adapter.non_slot_devices(self, var_list)

    @adapter.library
    def map(self, map_over: Iterable[Any], fn: Fn, *args: Any, **kwargs: Any) -> Any:
        """Calls `fn(item, *args, **kwargs)` for each item (r1.11).

        Context: cross-tower.

        Returns:
          An object whose `get()`, or `unwrap`, is the list of results;
          `reduce` combines them.
        """
        return adapter.map_over(self, map_over, fn, args, kwargs)

    @adapter.library
    def initialize(self) -> Ops:
        """Starts the TPU system (r1.11).

        Returns:
          None in eager mode, where it is done at once; in a graph a list of
          ops, empty for a virtual TPU.
        """
        return adapter.start_system(self)

    @adapter.library
    def finalize(self) -> Ops:
        """Stops the TPU system; returns as `initialize` (r1.11)."""
        return adapter.finalize(self)

    @adapter.library
    def get_host_cpu_device(self, host_id: int) -> str:
        """The CPU device string of a host, 0 to `num_hosts` - 1 (r1.11)."""
        return adapter.host_device(self, host_id)
