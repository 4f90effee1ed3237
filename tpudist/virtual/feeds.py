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
from tpudist.tfcompat import versions

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
    """A queue of tuples for each core, in one direction.

    Args:
      name: "infeed" or "outfeed".
      capacity: how many tuples a core's queue holds before `enqueue` waits; None for all.
    """

    def __init__(self, name: str, capacity: int | None) -> None:
        self._name = name
        self._capacity = capacity
        self._queues: Any = collections.defaultdict(collections.deque)

    def enqueue(self, cores: Sequence[int], tuples: Sequence[Sequence[Tensor]]) -> Operation:
        """Adds a tuple to the queue of each core, in one op that waits until all have room."""
        size = len(tuples[0])

        def attempt(*arrays: Any) -> bool:
            return self._attempt(cores, self._has_room, lambda: put(arrays))

        def put(arrays: Sequence[Any]) -> None:
            for i, core in enumerate(cores):
                self._queues[core].append([np.array(a) for a in arrays[i * size : (i + 1) * size]])

        inputs = [tf.convert_to_tensor(tensor) for each in tuples for tensor in each]
        return tf.group(*_until_done(self._name + "_enqueue", attempt, inputs, [], []))

    def dequeue(self, cores: Sequence[int], dtypes: Sequence[Any], shapes: Any) -> list[Any]:
        """Takes a tuple from the queue of each core, in one op that waits until all have one."""
        dtypes = [tf.as_dtype(dtype) for dtype in dtypes]
        shapes = [tf.TensorShape(shape) for shape in shapes]
        empty = [
            np.zeros(shape.as_list(), dtype.as_numpy_dtype) for dtype, shape in zip(dtypes, shapes)
        ]

        count = len(cores)

        def attempt() -> list[Any]:
            found: list[Any] = []
            done = self._attempt(cores, self._has_any, lambda: take(found))
            return [np.bool_(done)] + (found or empty * count)

        def take(found: list[Any]) -> None:
            for core in cores:
                arrays = self._queues[core].popleft()
                self._check(core, arrays, empty)
                found += arrays

        flat = _until_done(self._name + "_dequeue", attempt, [], dtypes * count, shapes * count)
        return [flat[i : i + len(dtypes)] for i in range(0, len(flat), len(dtypes))]

    def _has_room(self, core: int) -> bool:
        return self._capacity is None or len(self._queues[core]) < self._capacity

    def _has_any(self, core: int) -> bool:
        return bool(self._queues[core])

    def _attempt(
        self, cores: Sequence[int], is_ready: Callable[[int], bool], act: Callable[[], None]
    ) -> bool:
        """Acts if all cores' queues are ready within a moment; returns whether they were."""
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
        return ready

    def _check(self, core: int, arrays: Sequence[Any], expected: Sequence[Any]) -> None:
        seen, asked = _described(arrays), _described(expected)
        if seen != asked:
            raise ArgumentError(
                "core %d takes %s from its %s" % (core, asked, self._name),
                "what was put into it is %s" % seen,
                "the same types and shapes on both sides",
            )


def _described(arrays: Sequence[Any]) -> str:
    return ", ".join("%s%s" % (array.dtype.name, list(array.shape)) for array in arrays)


def _until_done(
    name: str, attempt: Callable[..., Any], inputs: Sequence[Tensor], dtypes: Any, shapes: Any
) -> list[Tensor]:
    """Calls a Python function until the first of its results is True; returns the others.

    One op of a Session at a time asks, and holds one thread of TensorFlow's. The others wait for
    a lock, which has a thread of its own: whoever gets it stands behind the ops that are ready.
    """

    def again(*unused: Tensor) -> list[Tensor]:
        lock = gen_resource_variable_ops.mutex_lock(
            gen_resource_variable_ops.mutex_v2(shared_name="tpudist_" + name)
        )
        with tf.control_dependencies([lock]):
            results = _call(attempt, list(inputs), [tf.bool] + list(dtypes))
            results = results if isinstance(results, (list, tuple)) else [results]
        with tf.control_dependencies(results):
            done = gen_resource_variable_ops.consume_mutex_lock(lock)
        with tf.control_dependencies([done]):
            results = [tf.identity(tensor) for tensor in results]
        for tensor, shape in zip(results, [tf.TensorShape([])] + list(shapes)):
            tensor.set_shape(shape)
        return results

    with tf.device("/device:CPU:0"):
        start = [tf.constant(False)]
        start += [tf.zeros(shape, dtype) for dtype, shape in zip(dtypes, shapes)]
        looped = tf.while_loop(
            lambda done, *unused: tf.logical_not(done), again, start, parallel_iterations=1
        )
    flat = list(looped) if isinstance(looped, (list, tuple)) else [looped]
    return flat[1:] or flat


INFEED = Feed("infeed", _CAPACITY)
OUTFEED = Feed("outfeed", None)
