"""Properties of a strategy, the same on every TPU; part of :mod:`tpudist.core.adapter`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.core import base_classes

if TYPE_CHECKING:
    from typing import Any

    from tpudist.core.annotations import Args, Extended, Strategy

__all__ = [
    "between_graph",
    "extended",
    "is_single",
    "non_slot_devices",
    "num_hosts",
    "num_replicas",
    "parameter_devices",
    "replicas_per_host",
    "require_static_shapes",
    "should_checkpoint",
    "should_init",
    "should_save_summary",
    "steps_per_run",
    "update_config_proto",
    "worker_devices",
]


def extended(strategy: Strategy) -> Extended:
    """The ``StrategyExtended`` of `strategy`."""
    return base_classes.native(strategy).extended


def update_config_proto(strategy: Strategy, config_proto: Any) -> Any:
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
