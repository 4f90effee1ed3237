"""``tpu.repeat`` and ``tpu.while_loop`` on a virtual TPU: TensorFlow's own, with its infeed.

Reference: tensorflow/python/tpu/training_loop.py, r1.15.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpudist.backends import strategies
from tpudist.computations import merged_loops
from tpudist.tfcompat import tpu, versions

if TYPE_CHECKING:
    from tpudist.annotations import Fn
    from tpudist.tfcompat.annotations import Nest


class Loops:
    """The loops of :mod:`tpudist.contrib.tpu`, which documents each."""

    def repeat(self, n: Any, body: Fn, inputs: Any, infeed_queue: Any, name: str | None) -> Nest:
        """Runs `body` `n` times."""
        if not versions.TRACES_AS_FIRST:
            return merged_loops.repeat(n, body, inputs, infeed_queue, name)
        return tpu.Computations.repeat(n, _fed(body, infeed_queue), inputs, None, name)

    def while_loop(
        self, condition: Fn, body: Fn, inputs: object, infeed_queue: object, name: str | None
    ) -> Any:
        """Runs `body` while `condition` holds."""
        if not versions.TRACES_AS_FIRST:
            return merged_loops.while_loop(condition, body, inputs, infeed_queue, name)
        return tpu.Computations.while_loop(condition, _fed(body, infeed_queue), inputs, None, name)


def _fed(body: Fn, infeed_queue: Any) -> Fn:
    """`body`, which also takes a core's tensors of `infeed_queue`, if there is one."""
    if infeed_queue is None:
        return body
    context = strategies.virtual_replica()
    if context is not None:
        infeed_queue.set_number_of_shards(context.num_replicas_in_sync)
    return lambda *values: body(*values, *infeed_queue.generate_dequeue_op())
