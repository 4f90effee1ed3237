"""The adapter: one vocabulary of all surfaces, a function for each operation.

Every function takes the strategy first and says in which execution context it may be called. A
facade's method is one call to one of them. What is the same on every TPU is imported from its
module; where TPUs differ, the strategy's `Backend` does the work. The modules beside this one have
the operations that are more than a call: `cross_replica`, and `logical_devices` for shardings.

To change: what an operation means on all surfaces. No era and no tool is known here.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from tpudist.adapter.cross_replica import batch_reduce as batch_reduce
from tpudist.adapter.cross_replica import broadcast as broadcast
from tpudist.adapter.cross_replica import colocate as colocate
from tpudist.adapter.cross_replica import group as group
from tpudist.adapter.cross_replica import map_over as map_over
from tpudist.adapter.cross_replica import read as read
from tpudist.adapter.cross_replica import reduce_to as reduce_to
from tpudist.adapter.cross_replica import update as update
from tpudist.adapter.cross_replica import update_non_slot as update_non_slot
from tpudist.adapter.cross_replica import value_container as value_container
from tpudist.adapter.logical_devices import assign_to_logical_device as assign_to_logical_device
from tpudist.adapter.logical_devices import (
    replicate_to_logical_devices as replicate_to_logical_devices,
)
from tpudist.adapter.logical_devices import split_to_logical_devices as split_to_logical_devices
from tpudist.backends import step_loops
from tpudist.backends.strategies import backend_of
from tpudist.backends.strategies import initialize as initialize
from tpudist.input import distributed_datasets
from tpudist.input.distributed_datasets import make_numpy_dataset as make_numpy_dataset
from tpudist.keras import whole_batches
from tpudist.strategy import base_classes, contexts
from tpudist.strategy.base_classes import ScalingStrategyBaseV1 as ScalingStrategyBaseV1
from tpudist.strategy.base_classes import TPUStrategyBase as TPUStrategyBase
from tpudist.strategy.base_classes import is_facade as is_facade
from tpudist.strategy.base_classes import shown_as as shown_as
from tpudist.strategy.contexts import Words as Words
from tpudist.strategy.replica_values import distribute_values as distribute_values
from tpudist.strategy.replica_values import local_results as local_results
from tpudist.strategy.replica_values import refuse_swapped
from tpudist.strategy.replica_values import replica_ids as replica_ids
from tpudist.strategy.replica_values import unwrap as unwrap
from tpudist.tfcompat import distributed_values
from tpudist.tfcompat.functions import library as library
from tpudist.tfcompat.functions import part_of as part_of
from tpudist.virtual import device_loop

if TYPE_CHECKING:
    from typing import Callable

    import tensorflow as tf

    from tpudist.annotations import (
        Args,
        Axis,
        Dataset,
        DatasetFn,
        Extended,
        Fn,
        InputFn,
        Integer,
        Kwargs,
        Ops,
        Options,
        ReduceOp,
        Strategy,
        T,
    )
    from tpudist.backends.step_loops import Outputs
    from tpudist.tfcompat.annotations import DataIterator, DistributedDataset, Message, Nest, Tensor


# Replicas.


def run(
    strategy: Strategy,
    fn: Fn,
    args: Args = (),
    kwargs: Kwargs = None,
    options: Options = None,
    refuse_eager: bool = False,
) -> Nest:
    """Runs `fn` on every replica; distributed arguments become its components.

    Context: cross-replica; ``tf.function``, graph, or eager with `fn` a
    ``tf.function`` (or any function, unless `refuse_eager`).
    """
    contexts.refuse_in_replica(strategy, "run")
    if refuse_eager:
        contexts.refuse_eager(fn)
    with contexts.explained("run", fn, args, kwargs):
        return distributed_values.telling(backend_of(strategy).run(fn, args, kwargs, options))


def run_on_input(strategy: Strategy, fn: Fn, iterator: Any = None) -> Nest:
    """Runs `fn` on every replica, with the next element of `iterator` if there is one."""
    with strategy.scope():
        args = () if iterator is None else (iterator.get_next(),)
        return run(strategy, fn, args=args)


def replicate(strategy: Strategy, fn: Fn, args: Args, kwargs: Mapping[str, Any]) -> Any:
    """As :func:`run`; inside a native TPU computation, as part of it.

    Context: cross-replica, in the scope; graph, ``tf.function`` or eager. The
    keyword ``run_concurrently`` (how to schedule replicas) is ignored.
    """
    method = contexts.words_of(strategy).call
    contexts.require_cross_replica(strategy, method)
    kwargs = {name: value for name, value in kwargs.items() if name != "run_concurrently"}
    with contexts.explained(method.rstrip("()"), fn, args, kwargs):
        return distributed_values.telling(backend_of(strategy).replicate(fn, args, kwargs))


def replicate_dividing_losses(
    strategy: Strategy, fn: Fn, args: Args, kwargs: Mapping[str, Any]
) -> Nest:
    """As :func:`replicate`; optimizers divide a mean loss, as up to TensorFlow 1.13."""
    with strategy._mean_losses(divided=True):
        return replicate(strategy, fn, args, kwargs)


def run_keeping_losses(strategy: Strategy, fn: Fn, args: Args, kwargs: Kwargs) -> Nest:
    """As :func:`run`; optimizers leave a mean loss as it is, as from TensorFlow 1.14 on."""
    with strategy._mean_losses(divided=False):
        return run(strategy, fn, args, kwargs)


def run_steps(
    strategy: Strategy,
    fn: Fn,
    iterator: object,
    iterations: Integer,
    initial_values: object,
    outputs: Outputs,
) -> Outputs:
    """Runs ``fn(outputs, *inputs)`` `iterations` times in one device loop; returns `outputs`.

    `fn` is traced once, and starts the replicas itself. `initial_values` of the outputs before the
    first step are by name, or flat in the order of the sorted names, or None.

    Context: cross-replica; graph, ``tf.function``, or eager, where it runs at once.
    """
    contexts.require_cross_replica(strategy, "the loop of steps")
    step_loops.require_iterator(iterator)
    iterations = device_loop.check_iterations(iterations)
    return backend_of(strategy).run_steps(fn, iterator, iterations, initial_values, outputs)


@contextlib.contextmanager
def scope(strategy: Strategy) -> Iterator[Any]:
    """Context manager: `strategy` is current, in cross-replica context."""
    contexts.refuse_scope_in_replica(strategy)
    with backend_of(strategy).scope() as entered:
        yield entered


# Values and variables.


def concatenated(strategy: Strategy, tensors: Sequence[tf.Tensor]) -> Tensor:
    """Concatenates one tensor of each replica of this process, and of all, along the first axis."""
    return backend_of(strategy).concatenated(tensors)


def meet(strategy: Strategy) -> None:
    """Waits until all workers of the strategy have made this call."""
    backend_of(strategy).meet()


def reduce(strategy: Strategy, reduce_op: ReduceOp, value: object, axis: Axis) -> Nest:
    """Sums or averages a per-replica value, or each of a nest, and along a dimension `axis` too.

    Along an axis MEAN divides by the true number of examples.

    Context: cross-replica.
    """
    contexts.refuse_in_replica(strategy, "reduce")
    refuse_swapped(reduce_op, value)
    contexts.require_reduction(reduce_op, value, axis)
    if axis is None:
        return backend_of(strategy).reduce(reduce_op, value)
    return backend_of(strategy).reduce_along(reduce_op, value, axis)


# Input.


def per_replica_dataset(
    strategy: Strategy, dataset_fn: DatasetFn, dataset_class: Callable[..., T]
) -> T:
    """See :class:`tpudist.input.per_replica_datasets.PerReplicaDataset`."""
    contexts.require_dataset_function("distribute_dataset", dataset_fn)
    return backend_of(strategy).per_replica_dataset(dataset_fn, dataset_class)


def distribute_dataset(
    strategy: Strategy, dataset: Dataset, options: Options = None
) -> DistributedDataset:
    """`dataset` of global batches, split among hosts and replicas.

    Context: cross-replica.
    """
    contexts.require_dataset("experimental_distribute_dataset", dataset)
    distributed_datasets.require_batches(strategy, dataset)
    return backend_of(strategy).distribute_dataset(dataset, options)


def distribute_datasets_from_function(
    strategy: Strategy, dataset_fn: InputFn, options: Options = None
) -> DistributedDataset:
    """A dataset of the per-replica batches of ``dataset_fn(InputContext)``, one call a host."""
    contexts.require_dataset_function("experimental_distribute_datasets_from_function", dataset_fn)
    return backend_of(strategy).distribute_datasets_from_function(dataset_fn, options)


def make_dataset_iterator(
    strategy: Strategy, dataset: Dataset, whole_for_keras: bool = False
) -> DataIterator:
    """An iterator over a dataset of global batches, to be initialized.

    With `whole_for_keras`, see :mod:`tpudist.keras.whole_batches`.
    """
    backend, whole = backend_of(strategy), False
    if whole_for_keras:
        dataset, whole = whole_batches.of_keras(strategy, dataset, backend.system is not None)
    return (backend.make_iterator_of_replicas if whole else backend.make_dataset_iterator)(dataset)


def make_input_fn_iterator(
    strategy: Strategy, input_fn: InputFn, *replication_mode: tf.distribute.InputReplicationMode
) -> DataIterator:
    """An iterator over the batches of ``input_fn(InputContext)``, to be initialized."""
    return backend_of(strategy).make_input_fn_iterator(input_fn, replication_mode)


# Logical devices, hosts and the system.


def host_device(strategy: Strategy, host_id: int) -> str:
    """The CPU device of a host, 0 to `num_hosts` - 1; see `Backend.host_device`."""
    return backend_of(strategy).host_device(host_id)


def start_system(strategy: Strategy) -> Ops:
    """Starts the TPU system: a list of ops in a graph (none on a virtual TPU), else at once."""
    return backend_of(strategy).start_system()


def finalize(strategy: Strategy) -> Ops:
    """Stops the TPU system; results as :func:`start_system`."""
    return backend_of(strategy).stop_system()


def configure(
    strategy: Strategy,
    session_config: object = None,
    cluster_spec: object = None,
    task_type: str | None = None,
    task_id: int | None = None,
) -> None:
    """Adapts a ``ConfigProto``, in place; a virtual TPU needs neither cluster nor task."""
    backend_of(strategy).configure(session_config, cluster_spec, task_type, task_id)


# Properties.


def extended(strategy: Strategy) -> Extended:
    """The ``StrategyExtended`` of `strategy`."""
    return base_classes.native(strategy).extended


def update_config_proto(strategy: Strategy, config_proto: object) -> Message:
    """A copy of a ``tf.compat.v1.ConfigProto``, adapted to `strategy`."""
    return base_classes.native(strategy).update_config_proto(config_proto)


def require_static_shapes(strategy: Strategy) -> bool:
    """Whether replicas' tensors must have static shapes; on a TPU they must."""
    del strategy
    return True


def num_replicas(strategy: Strategy) -> int:
    """Number of replicas over which gradients are aggregated."""
    return base_classes.native(strategy).num_replicas_in_sync


def is_single(strategy: Strategy) -> bool:
    """Whether there is only one replica."""
    return strategy.num_replicas_in_sync == 1


def worker_devices(strategy: Strategy) -> list[str]:
    """List of the devices that replicas run on, one each."""
    return list(strategy.extended.worker_devices)


def parameter_devices(strategy: Strategy) -> list[str]:
    """List of the devices that hold variables."""
    return list(strategy.extended.parameter_devices)


def non_slot_devices(strategy: Strategy, variables: Args) -> list[str]:
    """List of the devices for an optimizer's variables that are no slots."""
    devices = strategy.extended.non_slot_devices(variables)
    return [devices] if isinstance(devices, str) else list(devices)


def num_hosts(strategy: Strategy) -> int:
    """Number of hosts that feed the replicas."""
    return strategy.extended.num_hosts


def replicas_per_host(strategy: Strategy) -> int:
    """Number of replicas that one host feeds."""
    return strategy.extended.num_replicas_per_host


def between_graph(strategy: Strategy) -> bool:
    """Whether each worker builds its own graph."""
    return strategy.extended.experimental_between_graph


def should_init(strategy: Strategy) -> bool:
    """Whether this process initialises variables."""
    return strategy.extended.experimental_should_init


def should_checkpoint(strategy: Strategy) -> bool:
    """Whether this process writes checkpoints."""
    return strategy.extended.should_checkpoint


def should_save_summary(strategy: Strategy) -> bool:
    """Whether this process writes summaries."""
    return strategy.extended.should_save_summary


def steps_per_run(strategy: Strategy) -> int:
    """Steps in one device-side loop of Keras and Estimator."""
    return strategy.extended.steps_per_run
