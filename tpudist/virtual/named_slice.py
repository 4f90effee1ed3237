"""The part of a ``StrategyExtended`` that describes a slice of a virtual TPU.

The virtual TPU's extended and that of devices as cores have these members beside those of
TensorFlow's mirrored strategy.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Iterator

from tpudist.errors import ShardingError
from tpudist.tfcompat import tpu

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Args, Fn, Kwargs, Nest


class NamedSlice:
    """Members of TensorFlow's ``TPUExtended`` that depend on the slice alone."""

    #: Whether annotations for logical devices are ops even on releases whose CPU
    #: kernel for that op crashes. True only for traces that never run.
    annotates_with_ops = False

    #: Whether a loop of steps is being built in a graph, which no Session looks into.
    builds_steps = False

    def describe(self, system: Any, placement: Any, assignment: object) -> None:
        """Sets the slice, and the `DeviceAssignment` that `placement` follows, if any."""
        self.system = system
        self.placement = placement
        self.steps_per_run = 1
        self._device_assignment = assignment

    @property
    def num_hosts(self) -> int:
        """Number of hosts that feed the replicas."""
        return self.placement.num_hosts

    @property
    def num_replicas_per_host(self) -> int:
        """Number of replicas that one host feeds."""
        return self.placement.num_replicas // self.placement.num_hosts

    @property
    def device_assignment(self) -> object:
        """The `DeviceAssignment` that was passed to the strategy, or None."""
        return self._device_assignment

    @property
    def tpu_hardware_feature(self) -> object:
        """The units that cores have beside their own (TensorFlow 2.9): none."""
        return tpu.no_hardware_feature()

    def get_host(self, host_id: int) -> str:
        """The device string of host `host_id`, 0 to ``num_hosts - 1``."""
        return "/job:localhost/replica:0/task:%d" % host_id

    def get_host_cpu_device(self, host_id: int) -> str:
        """The CPU device string of host `host_id`."""
        return self.get_host(host_id) + "/device:CPU:0"

    @contextlib.contextmanager
    def experimental_logical_device(self, logical_device_id: int) -> Iterator[Any]:
        """Context manager: places ops on one logical device; a replica computes on one device.

        Raises:
          ShardingError: (a ValueError) there is no such logical device.
        """
        count = self.placement.logical_devices
        if logical_device_id not in range(count):
            raise ShardingError(
                "logical_device_id=%r" % (logical_device_id,),
                "the device assignment gives each replica %d logical device(s)" % count,
                "an integer from 0 to %d" % (count - 1),
            )
        yield

    def tpu_run(self, fn: Fn, args: Args, kwargs: Kwargs, unused_options: Any = None) -> Nest:
        """Runs `fn` on every replica; the native ``TPUStrategy.run`` calls this."""
        own: Any = self
        return own.call_for_each_replica(fn, args=args, kwargs=kwargs)
