"""Chooses what a new strategy runs on, and looks up the backend of an existing one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.backends.cluster import ClusterBackend, ClusterExtended
from tpudist.backends.mirrored import DevicesExtended, MirroredBackend, MirroredExtended
from tpudist.backends.native import NativeBackend
from tpudist.backends.virtual_hosts import HostsBackend, HostsExtended
from tpudist.backends.virtual_tpu import VirtualBackend
from tpudist.strategy.base_classes import ScalingStrategyBaseV1, TPUStrategyBaseV1
from tpudist.system import cluster, placement
from tpudist.tfcompat import tpu, versions
from tpudist.virtual.extended import VirtualExtended

if TYPE_CHECKING:
    from tpudist.annotations import Assignment, Resolver, Strategy
    from tpudist.backends.backend import Backend
    from tpudist.tfcompat.annotations import Extended


def backend_of(strategy: Strategy) -> Backend:
    """The `Backend` of a strategy: TensorFlow's TPU, the virtual one, or devices as cores."""
    if isinstance(strategy.extended, ClusterExtended):
        return ClusterBackend(strategy)
    if isinstance(strategy.extended, HostsExtended):
        return HostsBackend(strategy)
    if isinstance(strategy.extended, VirtualExtended):
        return VirtualBackend(strategy)
    if isinstance(strategy.extended, DevicesExtended):
        return MirroredBackend(strategy)
    return NativeBackend(strategy)


def virtual_replica() -> Any:
    """The current replica context if it is a virtual TPU's, else None."""
    context = tf.distribute.get_replica_context()
    if context is None or backend_of(context.strategy).system is None:
        return None
    return context


def initialize(
    strategy: Strategy,
    resolver: Resolver,
    assignment: Assignment = None,
    steps_per_run: int | None = None,
    num_cores: int | None = None,
) -> None:
    """Gives a facade's strategy its extended object, native or virtual.

    The resolver may be a TPU's name, or None for the local TPU. With `num_cores` only that many
    cores are used, one per replica.
    """
    base = tpu.StrategyV1 if isinstance(strategy, TPUStrategyBaseV1) else tpu.Strategy
    resolver = cluster.resolve(resolver)
    system = cluster.system_of(resolver)
    if system is not None:
        placed = placement.on_slice(system, num_cores, assignment)
        if system.is_cluster:
            of_workers = ClusterExtended if system.kind else HostsExtended
            extended = of_workers(strategy, system, placed, assignment)
        elif system.kind:
            extended = MirroredExtended(strategy, system, placed, assignment)
        else:
            device = "/job:localhost/replica:0/task:0" + cluster.computing_device()
            extended = VirtualExtended(strategy, system, placed, device, assignment)
        is_first_generation = isinstance(strategy, ScalingStrategyBaseV1)
        extended.finds_by_device = is_first_generation and not versions.BY_DEVICE
        extended.numbers_in_python = is_first_generation
        extended._tpu_cluster_resolver = resolver
        extended.steps_per_run = steps_per_run or 1
        base.__init__(strategy, extended)
        return
    base.__init__(strategy, _native(strategy, resolver, steps_per_run, assignment, num_cores))
    # As the native constructors do: functions then capture one handle.
    strategy._enable_packed_variable_in_eager_mode = True


def _native(
    strategy: Strategy,
    resolver: object,
    steps_per_run: int | None,
    assignment: Assignment,
    num_cores: int | None,
) -> Extended:
    if not versions.HAS_FUNCTION:
        return tpu.TPUExtended(strategy, resolver, steps_per_run or 1, num_cores)
    if num_cores is not None and assignment is None:
        assignment = placement.DeviceAssignment.build(
            cluster.start_native(resolver), num_replicas=num_cores
        )
    return tpu.TPUExtended(
        strategy, resolver, steps_per_run=steps_per_run, device_assignment=assignment
    )
