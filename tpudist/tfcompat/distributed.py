"""TensorFlow's own distribution machinery, under one name per thing."""

from __future__ import annotations

import contextlib
import threading
import types
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence

import numpy as np
import tensorflow as tf
from tensorflow.python.distribute import (
    cross_device_ops,
    cross_device_utils,
    distribute_lib,
    mirrored_strategy,
    values,
)
from tensorflow.python.ops import resource_variable_ops
from tensorflow.python.util import nest

from tpudist.errors import CollectiveError
from tpudist.tfcompat import distributed_values, functions, nests, versions

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tpudist.tfcompat.annotations import Extended, Nest, Strategy, T, Tensor, Value


if versions.BY_DEVICE:
    from tpudist.tfcompat import distributed_before_2_2

if versions.HAS_INPUT_LIB:
    from tensorflow.python.distribute import numpy_dataset

if versions.HAS_NEST:
    from tensorflow.python.framework.composite_tensor import CompositeTensor
else:
    CompositeTensor = (tf.IndexedSlices, tf.SparseTensor)

if versions.HAS_DISTRIBUTE_UTILS:
    from tensorflow.python.distribute import distribute_utils
    from tensorflow.python.distribute.mirrored_run import (
        _MirroredReplicaContext as MirroredReplicaContext,
    )
else:
    distribute_utils = values
    MirroredReplicaContext = mirrored_strategy.MirroredReplicaContext

if versions.STRATEGY_CONTEXT_IN_LIB:
    strategy_context = distribute_lib
else:
    from tensorflow.python.distribute import distribution_strategy_context as strategy_context  # type: ignore[no-redef]

IndexedSlices = tf.IndexedSlices
MirroredExtended = mirrored_strategy.MirroredExtended
ResourceVariable = resource_variable_ops.ResourceVariable
DistributedValues = values.DistributedValues
PerReplica = values.PerReplica
ReplicaContext = distribute_lib.ReplicaContext
DistributedVariable = values.DistributedVariable
_VARIABLES = (
    (DistributedVariable,)
    if not versions.TPU_VARIABLES_ARE_APART
    else (DistributedVariable, values.TPUMirroredVariable)
)
MirroredVariable = values.MirroredVariable
SyncOnReadVariable = (
    values.SyncOnReadVariable if versions.HAS_INPUT_LIB else values.ReplicaLocalVariable
)
#: ``_make(class, extended, components)``: a distributed value of one component per replica.
_make = distributed_before_2_2.distributed if versions.BY_DEVICE else distributed_values.make
#: ``divide(tensor, count)``: a tensor, or IndexedSlices, divided by a number.
divide = cross_device_utils.divide_by_n_tensors_or_indexed_slices
#: ``aggregate(tensors, add)``: the sum of tensors by `add`, or IndexedSlices concatenated.
aggregate = cross_device_utils.aggregate_tensors_or_indexed_slices

#: The methods by which a variable is assigned.
ASSIGNMENTS: tuple[str, ...] = ("assign", "assign_add", "assign_sub", "load", "count_up_to")
ASSIGNMENTS += ("_strided_slice_assign", "batch_scatter_update")
ASSIGNMENTS += tuple("scatter_" + how for how in "add sub update min max mul div".split())
ASSIGNMENTS += tuple("scatter_nd_" + how for how in "add sub update min max".split())

#: The method that gives the components of a distributed value.
LOCAL_RESULTS = "experimental_local_results" if versions.WORKS_OUTSIDE_SCOPE else "unwrap"


def per_replica(extended: Extended, components: Sequence[Any]) -> Value:
    """A ``PerReplica`` of one component per replica."""
    return _make(PerReplica, extended, components)


def mirrored(extended: Extended, components: Sequence[Any]) -> Value:
    """A ``Mirrored`` of one component per replica."""
    return _make(values.Mirrored, extended, components)


def local_replicas(extended: Extended) -> range:
    """The ids of the replicas that this process computes: all, but on a worker of a cluster."""
    first = -extended._get_local_replica_id(0) if versions.HAS_CLUSTERS else 0
    return range(first, first + len(extended.worker_devices))


def replica_name(variable: Any, replica_id: int) -> str:
    """The name scope of a replica's copy of `variable`, which ends in "/": it is used as it is."""
    return "%s/replica_%d/" % (variable.name.split(":")[0], replica_id)


def components(value: Any) -> tuple[Any, ...]:
    """The per-replica components of a distributed value, else ``(value,)``."""
    if not is_distributed(value):
        return (value,)
    if versions.BY_DEVICE:
        return distributed_before_2_2.components(value)
    return tuple(value._values)


def replace_components(value: Any, components: Sequence[Any]) -> None:
    """Gives a distributed value other components, one per replica."""
    if not versions.BY_DEVICE or versions.DEVICE_MAP:
        value._values = components
    else:
        value._index = dict(zip(value._index, components))


def map_distributed(fn: Callable[..., Any], value: object) -> Any:
    """`fn` applied to each leaf if any leaf is distributed, else to `value`."""
    if any(is_distributed(leaf) for leaf in nests.flatten(value)):
        return nests.map_structure(fn, value)
    return fn(value)


def as_per_replica(extended: Extended, results: T) -> T:
    """`results`, with a per-replica value, as of a TPU, for a tensor that N replicas share."""
    count = len(extended.worker_devices)
    if tf.executing_eagerly() or count == 1:
        return results

    def each_its_own(leaf: Any) -> Nest:
        is_one = nests.is_tensor(leaf) or is_tensor_like(leaf)
        if not is_one or is_distributed(leaf) or is_assignment(leaf):
            return leaf
        if isinstance(leaf, tf.Variable):
            return leaf
        return per_replica(extended, [leaf] + [_copy(leaf) for _ in range(count - 1)])

    return nests.map_structure(each_its_own, results)


def on_each(extended: Extended, value: Any) -> Nest:
    """A per-replica value with a copy of one tensor (or number) on each replica's device."""
    copies = []
    for device in extended.worker_devices:
        with tf.device(device):
            copies.append(_copy(value if hasattr(value, "dtype") else tf.convert_to_tensor(value)))
    return per_replica(extended, copies)


def _copy(tensor: Tensor) -> Any:
    return pack(tensor, [tf.identity(each) for each in flatten(tensor)])


def is_distributed(value: object) -> bool:
    """Whether `value` holds one component per replica."""
    return isinstance(value, DistributedValues)


def is_variable(value: object) -> bool:
    """Whether `value` is a variable created under a strategy."""
    return isinstance(value, _VARIABLES)


def is_assignment(value: object) -> bool:
    """Whether `value` is what assigning a variable in a graph returns."""
    return isinstance(value, resource_variable_ops._UnreadVariable)


def is_mirrored(value: object) -> bool:
    """Whether the components of `value` are kept equal."""
    if not versions.HAS_VARIABLE_POLICIES:
        return isinstance(value, values.Mirrored)
    return distribute_utils.is_mirrored(value)


def select_mirrored(extended: Extended, replica_id: int, structure: T) -> T:
    """Replica `replica_id`'s component of every mirrored argument of an update."""
    if versions.BY_DEVICE:
        return distributed_before_2_2.select_mirrored(extended, replica_id, structure)
    return distribute_utils.select_replica(replica_id, structure)


def regroup(extended: Extended, per_replica_results: Any) -> Nest:
    """One structure of distributed values from one structure per replica."""
    results = tuple(per_replica_results)
    if versions.BY_DEVICE:
        return distributed_before_2_2.regroup(extended, results)
    return distributed_values.found_by_device(extended, distribute_utils.regroup(results))


def update_regroup(extended: Extended, updates: Any, group: bool) -> Nest:
    """Regroups what an update function returned for each component."""
    if versions.BY_DEVICE:
        return distributed_before_2_2.update_regroup(extended, updates, group)
    made = distribute_utils.update_regroup(extended, tuple(updates), group)
    return distributed_values.found_by_device(extended, made)


def update_context(extended: Extended, replica_id: int) -> AbstractContextManager[Any]:
    """The context in which an update function sees one component."""
    if versions.BY_DEVICE:
        return distributed_before_2_2.update_context(extended, replica_id)
    return distribute_lib.UpdateContext(replica_id)


def is_updating() -> bool:
    """Whether an update function is running, in which a variable is one of its components."""
    if versions.BY_DEVICE:
        return distribute_lib.get_update_device() is not None
    return distribute_lib.get_update_replica_id() is not None


def updated_replica() -> int:
    """The replica id of the component that is being updated (2.2 and newer)."""
    return distribute_lib.get_update_replica_id()


def with_whole_variables(replica: Any, structure: T) -> T:
    """`structure` with distributed variables for a replica's components, as 1.13 needs them."""
    if not versions.BY_DEVICE or versions.DEVICE_MAP:
        return structure
    replica_id = functions.static_value(replica._replica_id_in_sync_group)

    def whole(leaf: object) -> Nest:
        container: Any = getattr(leaf, "_distributed_container", tuple)()
        if not is_variable(container):
            return leaf
        return container if components(container)[replica_id] is leaf else leaf

    return nests.map_structure(whole, structure)


def adds_between(kind: str) -> Nest:
    """TensorFlow's way to add the values of several devices: NCCL between GPUs, else on one."""
    if kind == "GPU":
        return cross_device_ops.AllReduceCrossDeviceOps("nccl")
    return (
        cross_device_ops.ReductionToOneDevice()
        if versions.HAS_INPUT_LIB
        else cross_device_ops.ReductionToOneDeviceCrossDeviceOps()
    )


def reduce_plain(
    extended: Extended, reduce_op: object, value: object, destinations: object, *options: Any
) -> Nest:
    """Reduces a nest leaf by leaf, or a value that is the same in every replica, a constant say."""
    if nests.is_nested(value):  # v.assign([a, b]) in a replica asks for it
        return nests.map_structure(
            lambda leaf: extended._reduce_to(reduce_op, leaf, destinations, *options), value
        )
    if reduce_op == tf.distribute.ReduceOp.MEAN or extended._num_replicas_in_sync == 1:
        return value
    if isinstance(value, (int, float, np.ndarray, np.generic)) and not np.any(value):
        return value
    raise CollectiveError(
        "%s of %r" % (reduce_op, value),
        "A non-DistributedValues value cannot be reduced: it is not known to differ per replica",
        "a tensor that run() or call_for_each_replica() returned; in the replica function "
        "tf.constant(NUMBER) for a number of Python's, which is one for all replicas",
    )


def as_tensor(value: Any, destinations: Any) -> Tensor:
    """Converts `value` to a tensor; numbers, which fit any dtype, to that of `destinations`."""
    dtype = destinations.dtype if is_variable(destinations) else None
    return tf.compat.v1.convert_to_tensor(value, preferred_dtype=dtype)


def to_broadcast(value: object, destinations: object) -> Nest:
    """Returns `value` as a tensor, but for a number; of a list of per-replica values the first."""
    if isinstance(value, (int, float)) or is_tensor_like(value):
        return value
    if nests.is_nested(value):  # v.assign([a, b]), which TensorFlow before 2.3 takes for one value
        value = nests.map_structure(lambda leaf: components(leaf)[0], value)
    return as_tensor(value, destinations)


def reduce_op(name: object) -> Any:
    """The ``tf.distribute.ReduceOp`` of that name, or `name` if it is one."""
    if isinstance(name, str):
        return tf.distribute.ReduceOp(name.upper())
    return name


def reduce_natively(
    native_reduce: Callable[..., Any], reduce_op: object, value: object, axis: int | None
) -> Nest:
    """Reduces each leaf of `value` by TensorFlow's own ``Strategy.reduce``."""
    if versions.WORKS_OUTSIDE_SCOPE:
        return map_distributed(lambda leaf: native_reduce(reduce_op, leaf, axis=axis), value)
    if axis is not None:
        raise CollectiveError(
            "reduce(..., axis=%r)" % (axis,),
            "the TPUStrategy of TensorFlow %s reduces over replicas only" % versions.TF,
            "axis=None of values that are reduced in the replicas, or TensorFlow 1.14 and newer",
        )
    operation = tf.distribute.ReduceOp(getattr(reduce_op, "value", reduce_op))
    return map_distributed(lambda leaf: native_reduce(operation, leaf), value)


@contextlib.contextmanager
def scope_if_needed(scope: Callable[..., Any]) -> Iterator[Any]:
    """Enters ``scope()`` where the release requires it to run replicas and to reduce."""
    with contextlib.nullcontext() if versions.WORKS_OUTSIDE_SCOPE else scope():
        yield


def device_count(destinations: object) -> int:
    """The number of devices that a reduction's result goes to."""
    return len(cross_device_ops.get_devices_from(destinations))


def create_distributed_variable(
    extended: Extended,
    creator: Callable[..., Any],
    mirrored_class: object,
    sync_on_read_class: object,
    kwargs: Mapping[str, Any],
) -> Any:
    """Wraps the variables of ``creator(**kwargs)``, one per replica, into one variable."""
    strategy = extended._container_strategy()
    if versions.BY_DEVICE:
        return distributed_before_2_2.create_variable(
            extended, creator, mirrored_class, sync_on_read_class, kwargs
        )
    if versions.TRACE_ONCE:
        ours = {MirroredVariable: mirrored_class, SyncOnReadVariable: sync_on_read_class}
        native = distribute_utils.VARIABLE_CLASS_MAPPING
        classes = {key: ours.get(cls, cls) for key, cls in native.items()}
        return distribute_utils.create_mirrored_variable(
            strategy, creator, classes, distribute_utils.VARIABLE_POLICY_MAPPING, **kwargs
        )
    return distribute_utils.create_mirrored_variable(
        strategy, creator, mirrored_class, sync_on_read_class, **kwargs
    )


@contextlib.contextmanager
def cross_replica(strategy: Strategy | None) -> Iterator[None]:
    """Enters `strategy`'s cross-replica context in the current graph; of None, that of none."""
    if strategy is None:
        mode = strategy_context._get_default_replica_mode()
    else:
        mode = strategy_context._CrossReplicaThreadMode(strategy)
    strategy_context._push_per_thread_mode(mode)
    try:
        yield
    finally:
        strategy_context._pop_per_thread_mode()


def flatten(structure: Nest) -> list[Any]:
    """Leaves of a nest; composite tensors are split into their tensors."""
    if not versions.HAS_NEST:
        return nest.flatten(structure)
    return nest.flatten(structure, expand_composites=True)


def pack(structure: Nest, flat: Sequence[Any]) -> Nest:
    """The inverse of :func:`flatten`."""
    if not versions.HAS_NEST:
        return nest.pack_sequence_as(structure, flat)
    return nest.pack_sequence_as(structure, flat, expand_composites=True)


def is_single_device(value: object) -> bool:
    """Whether `value` is the device of a numpy dataset, not a variable."""
    return versions.HAS_INPUT_LIB and isinstance(value, numpy_dataset.SingleDevice)


def is_tensor_like(value: object) -> bool:
    """Whether `value` is a tensor or is made of tensors (IndexedSlices...)."""
    return isinstance(value, (tf.Tensor, CompositeTensor))


def end_before_joining() -> None:
    """Ends this replica's thread before TensorFlow looks whether the threads have ended.

    ``Coordinator.join`` looks once whether all threads have ended, and sleeps for a second if one
    has not. One that has traced a ``tf.function`` takes 0.2 ms to end up to 2.3.
    """
    thread: Any = threading.current_thread()
    # The last thing that ``mirrored_strategy.py`` does before it joins is ``should_run.set()``.
    thread.should_run = types.SimpleNamespace(set=thread.join)
