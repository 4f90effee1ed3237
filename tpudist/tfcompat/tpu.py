"""TensorFlow's own TPU code: the operations, the resolver, topologies and the strategy classes.

In 1.13 they are in contrib, from 1.14 on below ``tensorflow.python``.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import numpy as np
import tensorflow as tf
from tensorflow.python.client import device_lib, session
from tensorflow.python.distribute import distribute_lib
from tensorflow.python.distribute.cluster_resolver import TPUClusterResolver

from tpudist.tfcompat import versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Extended, Nest, Tensor


if versions.TPU_IN_PYTHON:
    from tensorflow.python.distribute import tpu_strategy
    from tensorflow.python.tpu import (
        bfloat16,
        device_assignment,
        tpu,
        tpu_feed,
        tpu_function,
        tpu_system_metadata,
        training_loop,
    )
    from tensorflow.python.tpu.ops import tpu_ops
    from tensorflow.python.tpu.topology import Topology
    from tensorflow.python.tpu.tpu_optimizer import CrossShardOptimizer
else:
    from tensorflow.contrib.distribute.python import tpu_strategy
    from tensorflow.contrib.tpu.python.ops import tpu_ops
    from tensorflow.contrib.tpu.python.tpu import (
        bfloat16,
        device_assignment,
        tpu,
        tpu_feed,
        tpu_function,
        tpu_system_metadata,
        training_loop,
    )
    from tensorflow.contrib.tpu.python.tpu.topology import Topology
    from tensorflow.contrib.tpu.python.tpu.tpu_optimizer import CrossShardOptimizer

if versions.XLA_SHARDING_IN_PYTHON:
    from tensorflow.python.compiler.xla.experimental import xla_sharding
else:
    from tensorflow.compiler.xla.experimental.xla_sharding import xla_sharding

#: Names of the dtypes that TensorFlow sends to a TPU by its infeed.
INFEED_DTYPES = frozenset(each.name for each in tpu_ops._SUPPORTED_INFEED_DTYPES)

if versions.HAS_HARDWARE_FEATURE:
    from tensorflow.core.protobuf.tpu import topology_pb2

if not versions.WORKS_OUTSIDE_SCOPE:
    from tpudist.tfcompat import distributed_before_2_2

#: Re-exported unchanged.
__all__ = ["CrossShardOptimizer", "TPUClusterResolver", "Topology"]

DeviceAssignment = device_assignment.DeviceAssignment
InfeedQueue = tpu_feed.InfeedQueue
TPUExtended = tpu_strategy.TPUExtended
assign_devices = device_assignment.device_assignment
bfloat16_scope = bfloat16.bfloat16_scope
get_tpu_context = tpu_function.get_tpu_context

if versions.HAS_FUNCTION:
    Strategy, StrategyV1 = distribute_lib.Strategy, distribute_lib.StrategyV1
    TPUStrategyV1 = tpu_strategy.TPUStrategyV1
else:
    Strategy = StrategyV1 = distribute_lib.DistributionStrategy
    TPUStrategyV1 = tpu_strategy.TPUStrategy

#: The classes of TensorFlow 2 that a TPU strategy is an instance of.
TPU_STRATEGIES: tuple[Any, ...] = (tpu_strategy.TPUStrategy,)
if versions.HAS_TPU_STRATEGY_V2:
    TPU_STRATEGIES = (tpu_strategy.TPUStrategyV2,) + TPU_STRATEGIES


def in_computation() -> bool:
    """Whether a real TPU's program is being built."""
    return get_tpu_context().number_of_shards is not None


def real_devices() -> list[Any]:
    """The names of the devices that this TensorFlow sees, ``["/device:CPU:0"]``."""
    return [device.name for device in device_lib.list_local_devices()]


#: How the names of this process' devices begin.
HERE = "/job:localhost/replica:0/task:0/device:"


def system_metadata(cores: int, hosts: int, topology: object) -> Any:
    """The metadata of a system with that many cores."""
    kind = (
        tpu_system_metadata.TPUSystemMetadata
        if versions.RESOLVER_HAS_METADATA
        else tpu_system_metadata._TPUSystemMetadata
    )
    name = HERE + "TPU:%d"
    return kind(
        num_cores=cores,
        num_hosts=hosts,
        num_of_cores_per_host=cores // hosts,
        topology=topology,
        devices=[session._DeviceAttributes(name % i, "TPU", 1, i) for i in range(cores)],
    )


def system_device() -> object:
    """The device that a Session lists beside the cores: the device that starts a TPU."""
    return session._DeviceAttributes(HERE + "TPU_SYSTEM:0", "TPU_SYSTEM", 0, 0)


#: The class of all Sessions, TensorFlow's own among them.
BaseSession = session.BaseSession


def no_hardware_feature() -> object:
    """The ``HardwareFeature`` of cores that have no embedding hardware."""
    if not versions.HAS_HARDWARE_FEATURE:
        raise AttributeError("tpu_hardware_feature")
    return tf.tpu.experimental.HardwareFeature(topology_pb2.TPUHardwareFeature())


class _CrossReplicaSum(tf.Operation):
    """An op that does nothing, and stands in a graph for the sums in its computations."""

    @property
    def type(self) -> str:
        """The type of the op that sums on a TPU, which a CPU could not even place."""
        return "CrossReplicaSum"


def show_sum() -> None:
    """Adds an op CrossReplicaSum, which a TPUEstimator looks for, to a Session's graph."""
    if not tf.executing_eagerly():
        shown = tf.no_op(name="CrossReplicaSum")
        shown.__class__ = _CrossReplicaSum


def initialize(resolver: object) -> Any:
    """Starts the system of a resolver's TPU; returns its `Topology`."""
    if versions.TPU_IN_PYTHON:
        return tf.tpu.experimental.initialize_tpu_system(resolver)
    return Topology(serialized=_in_session(resolver, tpu.initialize_system))


def shutdown(resolver: object) -> None:
    """Stops the system of a resolver's TPU."""
    if versions.HAS_SHUTDOWN:
        tf.tpu.experimental.shutdown_tpu_system(resolver)
    else:
        _in_session(resolver, tpu.shutdown_system)


def _in_session(resolver: Any, build: Any) -> Nest:
    """The result, on a resolver's TPU, of the op that `build` makes."""
    config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    cluster = resolver.cluster_spec()
    if cluster:
        config.cluster_def.CopyFrom(cluster.as_cluster_def())
    with tf.Graph().as_default():
        with tf.compat.v1.Session(resolver.master(), config=config) as opened:
            return opened.run(build())


def query_metadata(resolver: Any) -> Any:
    """The metadata of a real TPU, on releases whose resolver cannot return it."""
    return tpu_system_metadata._query_tpu_system_metadata(
        resolver.master(),
        cluster_def=resolver.cluster_spec().as_cluster_def(),
        query_topology=False,
    )


def run(
    strategy: Any,
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    options: object,
) -> Nest:
    """TensorFlow's own ``run`` of a native TPU strategy."""
    if not versions.WORKS_OUTSIDE_SCOPE:
        return distributed_before_2_2.run_natively(strategy, fn, args, kwargs or {})
    native = TPUStrategyV1 if isinstance(strategy, TPUStrategyV1) else tpu_strategy.TPUStrategy
    if not versions.HAS_RUN:
        return native.experimental_run_v2(strategy, fn, args, kwargs)
    return native.run(strategy, fn, args, kwargs, options)


def logical_devices(extended: Extended) -> int:
    """Number of cores of each replica of a native TPU."""
    devices = np.asarray(extended._tpu_devices)
    return devices.shape[1] if devices.ndim == 2 else 1


#: TensorFlow's own operations below a strategy, by name.
Computations: Any = types.SimpleNamespace(
    **{
        name: getattr(module, name)
        for module, names in (
            (tpu, "batch_parallel initialize_system replicate rewrite shard shutdown_system"),
            (tpu, "rewrite_for_inference split_compile_and_replicate split_compile_and_shard"),
            (tpu_ops, "cross_replica_sum"),
            (tpu_ops, "infeed_dequeue infeed_dequeue_tuple infeed_enqueue infeed_enqueue_tuple"),
            (tpu_ops, "outfeed_dequeue outfeed_dequeue_tuple"),
            (tpu_ops, "outfeed_enqueue outfeed_enqueue_tuple"),
            (training_loop, "repeat while_loop"),
        )
        for name in names.split()
    }
)


def shard(annotation: Any, tensor: Tensor, *arguments: Any, **options: Any) -> Tensor:
    """`tensor` of a graph with a sharding annotation: "tile", "replicate" or "assign_device"."""
    if annotation == "assign_device" and versions.ASSIGN_DEVICE_RENAMED:
        annotation = "single_device"
    if not versions.HAS_SHARDING_OP:
        options = {}
    return getattr(xla_sharding, annotation)(tensor, *arguments, **options)
