"""The one vocabulary of all surfaces.

Every function takes the strategy first and says in which execution context
it may be called. A facade's method is one call to one of them. What is not the
same on every TPU is asked of the strategy's `Backend`.
"""

from tpudist.core import (
    base_classes,
    contexts,
    cross_replica,
    distributed_datasets,
    logical_devices,
    per_replica_datasets,
    reductions,
    replica_values,
    step_loops,
)

# What facades' classes are made of.
from tpudist.core.base_classes import ScalingStrategyBaseV1, TPUStrategyBase, TPUStrategyBaseV1  # noqa: F401
from tpudist.core.contexts import Words  # noqa: F401
from tpudist.core.signatures import shown_as  # noqa: F401
from tpudist.core.strategies import backend_of, initialize  # noqa: F401
from tpudist.tfcompat import distributed
from tpudist.tfcompat.functions import library  # noqa: F401
from tpudist.virtual import device_loop

# Replicas.


def run(strategy, fn, args=(), kwargs=None, options=None, refuse_eager=False):
    """Runs `fn` on every replica; distributed arguments become its components.

    Context: cross-replica; ``tf.function``, graph, or eager with `fn` a
    ``tf.function`` (or any function, unless `refuse_eager`).

    Raises:
      EagerRunError: (a NotImplementedError) a plain function in eager mode.
      ContextError: called inside a replica function.
    """
    contexts.refuse_in_replica(strategy, "run")
    if refuse_eager:
        contexts.refuse_eager(fn)
    return backend_of(strategy).run(fn, args, kwargs, options)


def run_on_input(strategy, fn, iterator=None):
    """Runs `fn` on every replica, with the iterator's next element if any."""
    with strategy.scope():
        args = () if iterator is None else (iterator.get_next(),)
        return run(strategy, fn, args=args)


def replicate(strategy, fn, args, kwargs):
    """The same; in a native TPU computation, as part of it.

    Context: cross-replica, in the scope; graph, ``tf.function`` or eager. The
    keyword ``run_concurrently`` (how to schedule replicas) has no meaning.

    Raises:
      ContextError: (a RuntimeError) outside of the scope or in a replica.
    """
    contexts.require_cross_replica(strategy, contexts.words_of(strategy).call)
    kwargs = {name: value for name, value in kwargs.items() if name != "run_concurrently"}
    return backend_of(strategy).replicate(fn, args, kwargs)


def run_steps(strategy, fn, iterator, iterations, initial_values, outputs):
    """Runs ``fn(outputs, *inputs)`` `iterations` times in one device loop.

    Context: cross-replica; graph, ``tf.function``, or eager, where it runs at once.

    Args:
      strategy: the strategy.
      fn: the step, traced once; it starts the replicas itself.
      iterator: has ``get_next()``; a tuple from it is unpacked.
      iterations: number of steps, at least 1.
      initial_values: None; or values of the outputs before the first step, by
        name or flat in the order of the sorted names.
      outputs: a `step_outputs.StepOutputs`, which is returned.

    Raises:
      ArgumentError: (a ValueError) a bad number of steps or initial value.
      DatasetEndError: (eager) the dataset ended before the last step.
    """
    contexts.require_cross_replica(strategy, "the loop of steps")
    step_loops.require_iterator(iterator)
    iterations = device_loop.check_iterations(iterations)
    return backend_of(strategy).run_steps(fn, iterator, iterations, initial_values, outputs)


def scope(strategy):
    """Context manager: `strategy` is current, in cross-replica context."""
    return backend_of(strategy).scope()


# Values and variables.


def local_results(strategy, value):
    """Tuple of the components of `value` on this client; ``(value,)`` if it has none."""
    return base_classes.native_call(strategy, distributed.LOCAL_RESULTS, value)


def unwrap(strategy, value):
    """See :func:`tpudist.core.replica_values.unwrap`."""
    return replica_values.unwrap(strategy, value)


def reduce(strategy, reduce_op, value, axis):
    """Sums or averages a per-replica value, or each of a nest.

    Context: cross-replica.

    Args:
      strategy: the strategy.
      reduce_op: ``tf.distribute.ReduceOp`` or its name.
      value: what ``run`` returned.
      axis: None, or a dimension of each component that is reduced too. MEAN
        divides by the true number of examples.

    Raises:
      CollectiveError: (a ValueError) components of different shapes and no axis.
    """
    contexts.refuse_in_replica(strategy, "reduce")
    if axis is None:
        return backend_of(strategy).reduce(reduce_op, value)
    return backend_of(strategy).reduce_along(reduce_op, value, axis)


def reduce_to(strategy, aggregation, value, destinations=None, axis=None):
    """See :func:`tpudist.core.reductions.reduce_to`."""
    return reductions.reduce_to(strategy, aggregation, value, destinations, axis)


def batch_reduce(strategy, aggregation, value_destination_pairs):
    """See :func:`tpudist.core.reductions.batch_reduce`."""
    return reductions.batch_reduce(strategy, aggregation, value_destination_pairs)


def broadcast(strategy, tensor, destinations=None):
    """See :func:`tpudist.core.reductions.broadcast`."""
    return reductions.broadcast(strategy, tensor, destinations)


def update(strategy, variable, fn, args, kwargs):
    """See :func:`tpudist.core.cross_replica.update`."""
    return cross_replica.update(strategy, variable, fn, args, kwargs)


def update_non_slot(strategy, colocate_with, fn, args, kwargs):
    """See :func:`tpudist.core.cross_replica.update_non_slot`."""
    return cross_replica.update_non_slot(strategy, colocate_with, fn, args, kwargs)


def read(strategy, variable):
    """See :func:`tpudist.core.cross_replica.read`."""
    return cross_replica.read(strategy, variable)


def value_container(strategy, value):
    """See :func:`tpudist.core.cross_replica.value_container`."""
    return cross_replica.value_container(strategy, value)


def colocate(strategy, variable):
    """See :func:`tpudist.core.cross_replica.colocate`."""
    return cross_replica.colocate(strategy, variable)


def group(strategy, value, name=None):
    """See :func:`tpudist.core.cross_replica.group`."""
    return cross_replica.group(strategy, value, name)


def map_over(strategy, items, fn, args, kwargs):
    """See :func:`tpudist.core.cross_replica.map_over`."""
    return cross_replica.map_over(strategy, items, fn, args, kwargs)


def distribute_values(strategy, value_fn, context_class):
    """See :func:`tpudist.core.replica_values.distribute`."""
    return replica_values.distribute(strategy, value_fn, context_class)


def replica_ids(strategy):
    """See :func:`tpudist.core.replica_values.replica_ids`."""
    return replica_values.replica_ids(strategy)


# Input.


def per_replica_dataset(strategy, dataset_fn, dataset_class=per_replica_datasets.PerReplicaDataset):
    """See :class:`tpudist.core.per_replica_datasets.PerReplicaDataset`."""
    return backend_of(strategy).per_replica_dataset(dataset_fn, dataset_class)


def distribute_dataset(strategy, dataset, options=None):
    """`dataset` of global batches, split among hosts and replicas.

    Context: cross-replica.

    Raises:
      ArgumentError: (a ValueError) `dataset` is not batched: it has scalars.
    """
    distributed_datasets.require_batches(strategy, dataset)
    return backend_of(strategy).distribute_dataset(dataset, options)


def distribute_datasets_from_function(strategy, dataset_fn, options=None):
    """A dataset of the per-replica batches of ``dataset_fn(InputContext)``, one call a host."""
    return backend_of(strategy).distribute_datasets_from_function(dataset_fn, options)


def make_dataset_iterator(strategy, dataset):
    """An iterator over a dataset of global batches, to be initialized."""
    return backend_of(strategy).make_dataset_iterator(dataset)


def make_input_fn_iterator(strategy, input_fn, *replication_mode):
    """An iterator over the batches of ``input_fn(InputContext)``, to be initialized."""
    return backend_of(strategy).make_input_fn_iterator(input_fn, replication_mode)


def make_numpy_dataset(strategy, numpy_input, session=None):
    """See :func:`tpudist.core.distributed_datasets.of_arrays`."""
    return distributed_datasets.of_arrays(strategy, numpy_input, session)


# Logical devices, devices, hosts and the system.


def split_to_logical_devices(strategy, tensor, partition_dimensions):
    """See :func:`tpudist.core.logical_devices.split`."""
    return logical_devices.split(strategy, tensor, partition_dimensions)


def replicate_to_logical_devices(strategy, tensor):
    """See :func:`tpudist.core.logical_devices.replicate`."""
    return logical_devices.replicate(strategy, tensor)


def assign_to_logical_device(strategy, tensor, logical_device_id):
    """See :func:`tpudist.core.logical_devices.assign`."""
    return logical_devices.assign(strategy, tensor, logical_device_id)


def extended(strategy):
    """The ``StrategyExtended`` of `strategy`."""
    return base_classes.native_property(strategy, "extended")


def update_config_proto(strategy, config_proto):
    """A copy of a ``tf.compat.v1.ConfigProto``, adapted to `strategy`."""
    return base_classes.native_call(strategy, "update_config_proto", config_proto)


def require_static_shapes(strategy):
    """Whether tensors of replicas must have static shapes: those of a TPU must."""
    del strategy
    return True


def num_replicas(strategy):
    """Number of replicas over which gradients are aggregated."""
    return base_classes.native_property(strategy, "num_replicas_in_sync")


def is_single(strategy):
    """Whether there is only one replica."""
    return strategy.num_replicas_in_sync == 1


def worker_devices(strategy):
    """List of the devices that replicas run on, one each."""
    return list(strategy.extended.worker_devices)


def parameter_devices(strategy):
    """List of the devices that hold variables."""
    return list(strategy.extended.parameter_devices)


def non_slot_devices(strategy, variables):
    """List of the devices for an optimizer's variables that are no slots."""
    found = strategy.extended.non_slot_devices(variables)
    return [found] if isinstance(found, str) else list(found)


def num_hosts(strategy):
    """Number of hosts that feed the replicas."""
    return strategy.extended.num_hosts


def replicas_per_host(strategy):
    """Number of replicas that one host feeds."""
    return strategy.extended.num_replicas_per_host


def host_device(strategy, host_id):
    """The CPU device of a host, 0 to `num_hosts` - 1; see `Backend.host_device`."""
    return backend_of(strategy).host_device(host_id)


def between_graph(strategy):
    """Whether each worker builds its own graph."""
    return strategy.extended.experimental_between_graph


def should_init(strategy):
    """Whether this process initialises variables."""
    return strategy.extended.experimental_should_init


def should_checkpoint(strategy):
    """Whether this process writes checkpoints."""
    return strategy.extended.should_checkpoint


def should_save_summary(strategy):
    """Whether this process writes summaries."""
    return strategy.extended.should_save_summary


def steps_per_run(strategy):
    """Steps in one device-side loop of Keras and Estimator."""
    return strategy.extended.steps_per_run


def start_system(strategy):
    """Starts the TPU system: a list of ops in a graph (none on a virtual TPU), else at once."""
    return backend_of(strategy).start_system()


def finalize(strategy):
    """Stops the TPU system; results as :func:`start_system`."""
    return backend_of(strategy).stop_system()


def configure(strategy, session_config=None, cluster_spec=None, task_type=None, task_id=None):
    """Adapts a ``ConfigProto``, in place; a virtual TPU needs neither cluster nor task."""
    backend_of(strategy).configure(session_config, cluster_spec, task_type, task_id)
