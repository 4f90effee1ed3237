"""Chooses what a new strategy runs on, and looks up the backend of an existing one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tpudist.core.backends.cluster import ClusterBackend, ClusterExtended
from tpudist.core.backends.mirrored import DevicesExtended, MirroredBackend, MirroredExtended
from tpudist.core.backends.native import NativeBackend
from tpudist.core.backends.virtual_tpu import VirtualBackend
from tpudist.core.base_classes import ScalingStrategyBaseV1, TPUStrategyBaseV1
from tpudist.core.system import cluster, placement
from tpudist.errors import ArgumentError
from tpudist.tfcompat import tpu, versions
from tpudist.virtual.extended import VirtualExtended

if TYPE_CHECKING:
    from typing import Any

    from tpudist.core.annotations import Assignment, Resolver, Strategy
    from tpudist.core.backends.backend import Backend


#: Environment variable: the real device that computes for a virtual TPU,
#: ``CPU:0`` (the default) or ``GPU:0``.
DEVICE = "TPUDIST_DEVICE"


def backend_of(strategy: Strategy) -> Backend:
    """The `Backend` of a strategy: TensorFlow's TPU, the virtual one, or devices as cores."""
    if isinstance(strategy.extended, ClusterExtended):
        return ClusterBackend(strategy)
    if isinstance(strategy.extended, VirtualExtended):
        return VirtualBackend(strategy)
    if isinstance(strategy.extended, DevicesExtended):
        return MirroredBackend(strategy)
    return NativeBackend(strategy)


def initialize(
    strategy: Strategy,
    resolver: Resolver,
    assignment: Assignment = None,
    steps_per_run: int | None = None,
    num_cores: int | None = None,
) -> None:
    """Gives a facade's strategy its extended object, native or virtual.

    Args:
      strategy: the facade's strategy, of a class of `base_classes`.
      resolver: a resolver, a TPU's name, or None for the local TPU.
      assignment: a `DeviceAssignment`, or None.
      steps_per_run: steps in one device-side loop (Keras, Estimator).
      num_cores: use only that many cores, one per replica.
    """
    base = tpu.StrategyV1 if isinstance(strategy, TPUStrategyBaseV1) else tpu.Strategy
    resolver = cluster.resolve(resolver)
    system = cluster.system_of(resolver)
    if system is not None:
        placed = placement.on_slice(system, num_cores, assignment)
        if system.is_cluster:
            extended = ClusterExtended(strategy, system, placed, assignment)
        elif system.kind:
            extended = MirroredExtended(strategy, system, placed, assignment)
        else:
            extended = VirtualExtended(strategy, system, placed, _real_device(), assignment)
        extended.finds_by_device = isinstance(strategy, ScalingStrategyBaseV1)
        extended._tpu_cluster_resolver = resolver
        extended.steps_per_run = steps_per_run or 1
        base.__init__(strategy, extended)
        return
    base.__init__(strategy, _native(strategy, resolver, steps_per_run, assignment, num_cores))
    # As the native constructors do: functions then capture one handle.
    strategy._enable_packed_variable_in_eager_mode = True


def _real_device() -> str | None:
    """The device that TPUDIST_DEVICE names; None where it is not set."""
    name = os.environ.get(DEVICE)
    if not name:
        return None
    devices = tpu.real_devices()
    wanted = "/device:" + name.upper().split("DEVICE:")[-1].lstrip("/")
    if wanted not in devices:
        raise ArgumentError(
            "%s=%r" % (DEVICE, name),
            "TensorFlow sees only %s" % ", ".join(devices),
            "%s=CPU:0, or a TensorFlow build with GPU support" % DEVICE,
        )
    return "/job:localhost/replica:0/task:0" + wanted


def _native(
    strategy: Strategy,
    resolver: Any,
    steps_per_run: int | None,
    assignment: Assignment,
    num_cores: int | None,
) -> Any:
    if not versions.HAS_FUNCTION:
        return tpu.TPUExtended(strategy, resolver, steps_per_run or 1, num_cores)
    if num_cores is not None and assignment is None:
        assignment = placement.DeviceAssignment.build(
            cluster.start_native(resolver), num_replicas=num_cores
        )
    return tpu.TPUExtended(
        strategy, resolver, steps_per_run=steps_per_run, device_assignment=assignment
    )
