"""Infeed and outfeed of a virtual TPU's cores: queues of this process, which all Sessions share.

On a TPU they are hardware, so that one Session fills what another one's training loop empties.
"""

from __future__ import annotations

import collections
import threading
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_resource_variable_ops

from tpudist.errors import ArgumentError, ContextError
from tpudist.tfcompat import nests, versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor

#: Tuples that a core's infeed holds before the host waits.
_CAPACITY = 8

#: How long one op waits, in seconds. It holds a thread of TensorFlow's, which the Session that
#: it waits for may need: so it gives it back and asks again.
_PATIENCE = 0.002

#: Calls a Python function in a graph.
_call = tf.numpy_function if versions.HAS_NUMPY_FUNCTION else tf.compat.v1.py_func

_changed = threading.Condition()


class Feed:
    """Queues of tuples for each core, "infeed" or "outfeed", of at most `capacity` if given."""

    def __init__(self, name: str, capacity: int | None) -> None:
        self._name = name
        self._capacity = capacity
        self.clear()

    def clear(self) -> None:
        """Empties the queues, as a start of the TPU system does."""
        self._queues: Any = collections.defaultdict(collections.deque)
        self._promised: Any = collections.Counter()

    def enqueue(self, cores: Sequence[int], tuples: Sequence[Sequence[Tensor]]) -> Operation:
        """Adds a tuple to the queue of each core, in one op that waits until all have room."""
        size = len(tuples[0])

        def put(*arrays: Any) -> np.bool_:
            with _changed:
                for i, core in enumerate(cores):
                    own = arrays[i * size : (i + 1) * size]
                    self._queues[core].append([np.array(array) for array in own])
                    self._promised[core] -= 1
                _changed.notify_all()
            return np.bool_(True)

        def has_room(core: int) -> bool:
            held = len(self._queues[core]) + self._promised[core]
            return self._capacity is None or held < self._capacity

        inputs = [tf.convert_to_tensor(tensor) for each in tuples for tensor in each]
        waited = self._wait("enqueue", cores, has_room, lambda: self._promised.update(cores))
        with tf.device("/device:CPU:0"), tf.control_dependencies([waited]):
            return tf.group(_call(put, inputs, tf.bool))

    def dequeue(self, cores: Sequence[int], dtypes: Sequence[Any], shapes: Any) -> list[Any]:
        """Takes a tuple from the queue of each core, in one op that waits until all have one."""
        dtypes = [tf.as_dtype(dtype) for dtype in dtypes]
        shapes = [tf.TensorShape(shape) for shape in shapes]
        asked = ", ".join("%s%s" % (d.name, s.as_list()) for d, s in zip(dtypes, shapes))

        mine: Any = collections.deque()  # an op may run in two Sessions at once

        def take() -> None:
            mine.append([self._queues[core].popleft() for core in cores])

        def taken() -> list[Any]:
            arrays = mine.popleft()
            for core, own in zip(cores, arrays):
                seen = ", ".join("%s%s" % (a.dtype.name, list(a.shape)) for a in own)
                if seen != asked:
                    raise ArgumentError(
                        "core %d takes %s from its %s" % (core, asked, self._name),
                        "what was put into it is %s" % seen,
                        "the same types and shapes on both sides",
                    )
            return [array for own in arrays for array in own]

        waited = self._wait("dequeue", cores, lambda core: bool(self._queues[core]), take)
        with tf.device("/device:CPU:0"), tf.control_dependencies([waited]):
            flat = nests.flatten(_call(taken, [], dtypes * len(cores)))
        for tensor, shape in zip(flat, shapes * len(cores)):
            tensor.set_shape(shape)
        return [flat[i : i + len(dtypes)] for i in range(0, len(flat), len(dtypes))]

    def _wait(
        self,
        what: str,
        cores: Sequence[int],
        is_ready: Callable[[int], bool],
        act: Callable[[], None],
    ) -> Tensor:
        """A tensor that is there when `act` has been called, once all cores' queues were ready."""

        def attempt() -> np.bool_:
            if not threading.main_thread().is_alive():
                raise ContextError(
                    "the program ended while a Session waits for the %s" % self._name,
                    "nothing will change it any more",
                    "as many steps as batches, or a thread that is a daemon",
                )
            with _changed:
                ready = _changed.wait_for(lambda: all(map(is_ready, cores)), _PATIENCE)
                if ready:
                    act()
                    _changed.notify_all()
            return np.bool_(ready)

        return _until_true("tpudist_%s_%s" % (self._name, what), attempt)


def _until_true(name: str, attempt: Callable[[], Any]) -> Tensor:
    """Calls a Python function until it returns True; one op of a Session at a time has the lock."""

    def again(unused: Tensor) -> Tensor:
        lock = gen_resource_variable_ops.mutex_lock(
            gen_resource_variable_ops.mutex_v2(shared_name=name)
        )
        with tf.control_dependencies([lock]):
            answer = _call(attempt, [], tf.bool)
        with tf.control_dependencies([answer]):
            end = gen_resource_variable_ops.consume_mutex_lock(lock)
        with tf.control_dependencies([] if end is None else [end]):
            answer = tf.identity(answer)
        answer.set_shape([])
        return answer

    with tf.device("/device:CPU:0"):
        start = tf.constant(False)
        looped = tf.while_loop(tf.logical_not, again, [start], parallel_iterations=1)
    return nests.flatten(looped)[0]


INFEED = Feed("infeed", _CAPACITY)
OUTFEED = Feed("outfeed", None)


def clear() -> Tensor:
    """Empties all queues when it is run: nothing is left of what ran before."""

    def cleared() -> np.bool_:
        with _changed:
            INFEED.clear()
            OUTFEED.clear()
        return np.bool_(True)

    return _call(cleared, [], tf.bool)
