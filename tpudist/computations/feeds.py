"""``tpu.infeed_*``, ``tpu.outfeed_*`` and ``tpu.InfeedQueue`` on a virtual TPU.

A replica's op is a collective: one for all replicas, each of which gets what its core was sent.

Reference: tensorflow/python/tpu/ops/tpu_ops.py and tpu_feed.py, r1.15.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.backends import strategies
from tpudist.errors import ArgumentError, ContextError
from tpudist.system import workers
from tpudist.tfcompat import distributed, functions
from tpudist.virtual import feeds

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Strategy, Tensor


class Feeds:
    """The operations of :mod:`tpudist.contrib.tpu`, which documents each."""

    _system: Any

    def infeed_enqueue(
        self, input: object, shape: object, layout: object, device_ordinal: int, name: str | None
    ) -> Operation:
        """Sends one tensor to a core."""
        return self.infeed_enqueue_tuple([input], [shape], layout, device_ordinal, name)

    def infeed_enqueue_tuple(
        self, inputs: Any, shapes: Any, unused_layouts: Any, device_ordinal: int, name: str | None
    ) -> Operation:
        """Sends tensors to a core."""
        tensors = [tf.reshape(x, shape) for x, shape in zip(inputs, shapes)]
        return feeds.INFEED.enqueue([self.core(device_ordinal)], [tensors])

    def infeed_dequeue(self, dtype: object, shape: object, name: str | None) -> Tensor:
        """Takes one tensor that the replica's core was sent."""
        return self.infeed_dequeue_tuple([dtype], [shape], name)[0]

    def infeed_dequeue_tuple(
        self, dtypes: Any, shapes: object, unused_name: str | None
    ) -> list[Tensor]:
        """Takes tensors that the replica's core was sent."""

        @functions.library
        def merge(strategy: Strategy) -> list[Any]:
            rows = feeds.INFEED.dequeue(_cores(strategy), dtypes, shapes)
            return [distributed.per_replica(strategy.extended, list(x)) for x in zip(*rows)]

        return list(_replica("infeed_dequeue").merge_call(merge))

    def outfeed_enqueue(self, input: object, name: str | None) -> Operation:
        """Sends one tensor of a replica to the host."""
        return self.outfeed_enqueue_tuple([input], name)

    def outfeed_enqueue_tuple(self, inputs: Any, unused_name: str | None) -> Operation:
        """Sends tensors of a replica to the host."""

        @functions.library
        def merge(strategy: Strategy, *values: Any) -> Operation:
            count = len(_cores(strategy))
            columns = [(list(distributed.components(x)) * count)[:count] for x in values]
            return feeds.OUTFEED.enqueue(_cores(strategy), list(zip(*columns)))

        tensors = tuple(map(tf.convert_to_tensor, inputs))
        return _replica("outfeed_enqueue").merge_call(merge, args=tensors)

    def outfeed_dequeue(
        self, dtype: object, shape: object, device_ordinal: int, name: str | None
    ) -> Tensor:
        """Takes one tensor that the core's replica sent."""
        return self.outfeed_dequeue_tuple([dtype], [shape], device_ordinal, name)[0]

    def outfeed_dequeue_tuple(
        self, dtypes: Any, shapes: object, device_ordinal: int, unused_name: str | None
    ) -> list[Tensor]:
        """Takes tensors that the core's replica sent."""
        return feeds.OUTFEED.dequeue([self.core(device_ordinal)], dtypes, shapes)[0]

    def core(self, ordinal: int, device: str | None = None, index: int = 0) -> int:
        """The number of a core, from its number on its host, `ordinal`, or from a device string.

        If `ordinal` is -1 it is that of a TPU device, by default the current one, or else `index`.
        """
        spec = tf.DeviceSpec.from_string(
            device or workers.named_worker() or functions.current_device()
        )
        if spec.device_type == "TPU" and ordinal < 0:
            ordinal = spec.device_index or 0
        on_host = self._system.cores_per_host
        core = index if ordinal < 0 else (spec.task or 0) * on_host + ordinal
        if core not in range(self._system.cores) or ordinal >= on_host:
            raise ArgumentError(
                "device_ordinal=%d on host %d" % (ordinal, spec.task or 0),
                "the TPU has %d core(s) on each of %d host(s)" % (on_host, self._system.hosts),
                "an ordinal from 0 to %d" % (on_host - 1),
            )
        return core


def _cores(strategy: Strategy) -> Sequence[int]:
    """The cores of the replicas of this process."""
    return distributed.local_replicas(strategy.extended)


def _replica(operation: str) -> Any:
    """The current replica context of a virtual TPU."""
    context = strategies.virtual_replica()
    if context is None:
        raise ContextError(
            "tpu.%s was called outside of a replica" % operation,
            "it is the core that does it, and here the host's program is built",
            "call it in the computation given to tpu.shard or tpu.replicate; the host has "
            "tpu.infeed_enqueue and tpu.outfeed_dequeue",
        )
    return context
