"""What the cores send to the host: tensors for ``host_call``, step by step.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu/TPUEstimatorSpec.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.errors import ArgumentError
from tpudist.tfcompat import nests

if TYPE_CHECKING:
    from typing import Any, Callable


class Outfeed:
    """The host's function of a ``host_call`` and the tensors that the cores send it.

    A step puts its tensors, those of all cores one after the other, into a queue; the
    host takes them out when the loop of steps is done, and calls its ops once for each
    step.

    Args:
      fn: the host's function.
      tensors: a list or dictionary of one core's tensors, rank 1 at least.
    """

    def __init__(self, fn: Callable[..., Any], tensors: Any) -> None:
        self._fn = fn
        self.tensors = tensors
        self._queue: Any = None

    def send(self, joined: Any) -> tf.Operation:
        """An op of the step that sends `joined`, the nest of all cores' tensors."""
        flat = nests.flatten(joined) or [tf.zeros([])]
        with tf.init_scope():
            self._queue = tf.queue.FIFOQueue(
                -1, [tensor.dtype for tensor in flat], [tensor.shape for tensor in flat]
            )
        return self._queue.enqueue(flat)

    def host_ops(self) -> tuple[Any, Any, Any]:
        """Context: the host's graph, after the steps.

        Returns:
          The number of steps that wait, a tensor; the ops that one of them runs; an op
          that leaves one out.
        """
        taken = self._queue.dequeue()
        taken = taken if isinstance(taken, list) else [taken]
        nest = nests.pack_sequence_as(self.tensors, taken[: len(nests.flatten(self.tensors))])
        made = call(self._fn, nest)
        flat = [made] if nests.is_tensor(made) else nests.flatten(made)
        ops = [each for each in flat if each is not None]
        run = tf.group(*(list(ops) + [tensor.op for tensor in taken]))
        left_out = self._queue.dequeue()
        return self._queue.size(), run, left_out


def call(fn: Callable[..., Any], tensors: Any) -> Any:
    """``fn`` of the host, called with tensors by name or one by one.

    Raises:
      ArgumentError: (a ValueError) it has captured a tensor of the cores.
    """
    refuse_captures(fn)
    return fn(**tensors) if isinstance(tensors, dict) else fn(*tensors)


def refuse_captures(fn: Callable[..., Any]) -> None:
    """Refuses a function of the host that uses a tensor of the cores otherwise than as argument.

    Raises:
      ArgumentError: (a ValueError) see above.
    """
    names = getattr(getattr(fn, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, getattr(fn, "__closure__", None) or ()):
        try:
            value = cell.cell_contents
        except ValueError:  # not set yet
            continue
        if isinstance(value, tf.Tensor) and value.graph is not tf.compat.v1.get_default_graph():
            raise ArgumentError(
                "%s, which runs on the host, captures the device tensor %r"
                % (getattr(fn, "__name__", fn), name),
                "the cores send the host the tensors of the pair (function, tensors), no others",
                "(%s, {%r: tf.reshape(%s, [1])}), and an argument %r of the function"
                % (getattr(fn, "__name__", "host_fn"), name, name, name),
            )


def require_batches(what: str, tensors: Any) -> None:
    """Refuses scalars, which cannot be joined over the cores.

    Raises:
      ArgumentError: (a ValueError) a tensor of rank 0.
    """
    for name, tensor in nests.flatten_with_paths(tensors):
        if tensor.shape.ndims == 0:
            raise ArgumentError(
                "%s with the scalar %s (%s)" % (what, name, tensor.name),
                "the cores' tensors are put one after the other along their first dimension",
                "tf.reshape(tensor, [1])",
            )
