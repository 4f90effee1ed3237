"""Runs the host's functions of ``host_call`` and ``eval_metrics`` on tensors of the replicas.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu/TPUEstimatorSpec.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.errors import ArgumentError
from tpudist.tfcompat import estimators, nests

if TYPE_CHECKING:
    from tpudist.annotations import Fn, Session, TPUConfig
    from tpudist.tfcompat.annotations import Nest, Operation, Tensor

_train = tf.compat.v1.train
_SessionRunHook: Any = _train.SessionRunHook


class Outfeed:
    """A queue through which the replicas send the host the tensors of its ``host_call``.

    Each step enqueues the concatenated tensors of all replicas. When a loop of steps is done, the
    host dequeues them and runs the ops of its function `fn`, once for each step.
    """

    def __init__(self, fn: Fn, tensors: Nest) -> None:
        self._fn = fn
        self._tensors = tensors
        self._queue: Any = None

    def send(self, concatenated: Nest) -> Operation:
        """Returns an op of the step that sends `concatenated`, the tensors of all replicas."""
        flat = nests.flatten(concatenated) or [tf.zeros([])]
        with tf.init_scope():
            self._queue = tf.queue.FIFOQueue(
                -1, [tensor.dtype for tensor in flat], [tensor.shape for tensor in flat]
            )
        return self._queue.enqueue(flat)

    def hook(self, every_n_steps: int = 1) -> OutfeedHook:
        """Returns the hook that calls the host's function, once :meth:`send` was called.

        Context: the host's graph, after the steps.
        """
        received = self._queue.dequeue()
        received = received if isinstance(received, list) else [received]
        count = len(nests.flatten(self._tensors))
        results = call(self._fn, nests.pack_sequence_as(self._tensors, received[:count]))
        ops = [result for result in nests.flatten(results) if result is not None]
        ops += [tensor.op for tensor in received]
        return OutfeedHook(self._queue.size(), tf.group(*ops), self._queue.dequeue(), every_n_steps)


class SummaryWritersHook(_SessionRunHook):
    """Initializes and flushes the ``tf.contrib.summary`` writers of the host's functions."""

    def begin(self) -> None:
        self._initializers, self._flush_ops = estimators.summary_writers()

    def after_create_session(self, session: Session, coord: object) -> None:
        session.run(self._initializers)

    def end(self, session: Session) -> None:
        session.run(self._flush_ops)


class OutfeedHook(SummaryWritersHook):
    """Runs the host's ops for the steps of a loop, after the loop.

    `host_op` receives the tensors of a step and calls the host's function, `skip_op` drops them; of
    a loop's steps in the outfeed, `num_waiting`, every so many are for the host.
    """

    def __init__(
        self, num_waiting: Tensor, host_op: Operation, skip_op: object, every_n_steps: int
    ) -> None:
        self._num_waiting = num_waiting
        self._host_op = host_op
        self._skip_op = skip_op
        self._every_n_steps = every_n_steps

    def after_run(self, run_context: Any, run_values: object) -> None:
        session = run_context.session
        for step in range(session.run(self._num_waiting)):
            session.run(self._skip_op if step % self._every_n_steps else self._host_op)


def interval(tpu_config: TPUConfig) -> int:
    """Returns after how many steps of a loop the host's function is called again (1.15)."""
    return getattr(tpu_config, "experimental_host_call_every_n_steps", 1)


def call(fn: Fn, tensors: Any) -> Nest:
    """Calls a function of the host with tensors by name or by position."""
    refuse_captures(fn)
    return fn(**tensors) if isinstance(tensors, dict) else fn(*tensors)


def refuse_captures(fn: Fn) -> None:
    """Refuses a function of the host that captures a tensor of the replicas."""
    names = getattr(getattr(fn, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, getattr(fn, "__closure__", None) or ()):
        try:
            value = cell.cell_contents
        except ValueError:  # The enclosing function has not assigned it yet.
            continue
        if isinstance(value, tf.Tensor) and value.graph is not tf.compat.v1.get_default_graph():
            raise ArgumentError(
                "%s, which runs on the host, captures the device tensor %r"
                % (getattr(fn, "__name__", fn), name),
                "the replicas send the host the tensors of the pair (function, tensors), no others",
                "(%s, {%r: tf.reshape(%s, [1])}), and an argument %r of the function"
                % (getattr(fn, "__name__", "host_fn"), name, name, name),
            )


def refuse_scalars(what: str, tensors: Nest) -> None:
    """Refuses scalars, which cannot be concatenated over the replicas."""
    for name, tensor in nests.flatten_with_paths(tensors):
        if tensor.shape.ndims == 0:
            raise ArgumentError(
                "%s with the scalar %s (%s)" % (what, name, tensor.name),
                "the tensors of all replicas are concatenated along their first dimension",
                "tf.reshape(tensor, [1])",
            )
