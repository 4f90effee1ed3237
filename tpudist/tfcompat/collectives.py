"""Keys of collectives that depend on where each is in the program, so that only those meet.

TensorFlow's workers number their collectives, and those of one number meet, if their kinds, dtypes
and shapes fit: a worker that does one more than the others would add other values. Here a number
depends on the functions that the collective is in. A worker that waits says where; others, which
wait too, see that they are elsewhere, and end the waiting with an error.
"""

from __future__ import annotations

import collections
import functools
import json
import re
import sys
import threading
import time
import types
import zlib
from typing import Any

import tensorflow as tf
from tensorflow.python.distribute import cross_device_utils
from tensorflow.python.eager import context

from tpudist import machine
from tpudist.errors import CollectiveError

#: Seconds after which a worker that has begun no other collective says which was its last.
_WAITS = 5.0

#: Keys of following collectives differ by 1 to so many, which leaves 10**8 of them.
_STEPS = 31

#: The last collectives: (group of devices, number in it, key, what it is).
_begun: collections.deque[tuple[int, int, int, str]] = collections.deque(maxlen=300)

#: The place after the program.
_END = "the program's end"

_saying = threading.Lock()


class Keys(cross_device_utils.CollectiveKeys):
    """TensorFlow's keys, of which each depends on what is done with it, and all before it."""

    def __init__(self, group_key_start: int = 1) -> None:
        super().__init__(group_key_start)
        self._doing = threading.local()
        self._counts: collections.Counter[tuple[int, str]] = collections.Counter()

    def get_instance_key(self, group_key: int, device: str) -> int:
        """Returns the key of the next collective of a device in a group."""
        if not tf.compat.v1.executing_eagerly_outside_functions():
            return int(super().get_instance_key(group_key, device))
        what = getattr(self._doing, "what", "") or _what(None)
        devices = self._instance_key_table[group_key]
        devices[device] += zlib.crc32(what.encode("utf-8")) % _STEPS
        key = int(super().get_instance_key(group_key, device))
        self._counts[group_key, device] += 1
        if device == next(iter(devices)):
            what = "%s at %s" % (what, _line())
            _begun.append((group_key, self._counts[group_key, device], key, what))
        return key

    def of_launcher(self, launcher: Any) -> None:
        """Lets what starts the collectives of a device say what they are."""
        launcher._next_instance_key = functools.partial(self._next, launcher)

    def _next(self, launcher: Any, what: str = "") -> Any:
        """The next key, or in a function's graph a tensor of what it is in each call."""
        what = what or _what(sys._getframe(1))
        graph: Any = tf.compat.v1.get_default_graph()
        while getattr(graph, "is_control_flow_graph", False):
            graph = graph.outer_graph
        if graph.building_function and tf.compat.v1.executing_eagerly_outside_functions():
            with graph.as_default():
                later = functools.partial(self._next, launcher, what)
                return graph.capture_call_time_value(later, tf.TensorSpec([], tf.int32))
        self._doing.what = what
        try:
            return type(launcher)._next_instance_key(launcher)
        finally:
            self._doing.what = ""


def _what(start: types.FrameType | None) -> str:
    """What a collective is: "all_reduce of float32 in step"; `start` is TensorFlow's function."""
    names = []
    graph: Any = tf.compat.v1.get_default_graph()
    while graph is not None and graph.building_function:
        if not getattr(graph, "is_control_flow_graph", False):
            names.append(re.sub("[0-9]+", "", graph.name))
        graph = getattr(graph, "outer_graph", None)
    if start is None:
        return " in ".join(["the start of a variable", *names])
    dtype = getattr(start.f_locals.get("input_tensor"), "dtype", None)
    kind = "%s of %s" % (start.f_code.co_name.strip("_"), getattr(dtype, "name", "a value"))
    return " in ".join([kind, *names])


def _line() -> str:
    """The program's line; TensorFlow's threads compute for the main one."""
    main = threading.main_thread().ident
    return machine.line_of_the_program() or machine.line_of_the_program(thread=main) or _END


def watch(number: int, workers: int) -> None:
    """Starts the thread that ends the waiting of a worker that is elsewhere than the others."""
    _say(number)
    threading.Thread(target=_compare, args=(number, workers), daemon=True).start()


def end(number: int) -> None:
    """Says that the program has ended on this worker."""
    last = {group: count for group, count, *_ in _begun}
    _begun.extend((group, last[group] + 1, -1, _END) for group in last)
    _say(number)


def _say(number: int) -> None:
    key = "collectives of worker %d" % number
    with _saying:
        context.context().delete_config_key_value(key)
        context.context().set_config_key_value(key, json.dumps(list(_begun)))


def _compare(number: int, workers: int) -> None:
    """Compares, while this worker waits, its last collectives with those of the others."""
    said = None
    while True:
        last = _begun[-1] if _begun else None
        time.sleep(_WAITS)
        if not _begun or _begun[-1] is not last:
            continue
        try:
            if said is not last:
                said = last
                _say(number)
            for other in range(1, workers) if not number else [0]:
                begun = context.context().get_config_key_value("collectives of worker %d" % other)
                own = {(group, count): (key, what) for group, count, key, what in list(_begun)}
                for group, count, key, what in json.loads(begun):
                    if own.get((group, count), (key, ""))[0] != key:
                        _abort(number, own[group, count][1], other, what)
                        return
        except tf.errors.OpError:  # a worker has gone, which TensorFlow says
            return


def _abort(number: int, own: str, other: int, there: str) -> None:
    message = CollectiveError(
        "worker %d waits in %s, and worker %d in %s" % (number, own, other, there),
        "what all workers add, or send, each of them has to do, in the same order",
        "the same calls on every worker, whatever one of them reads or catches; "
        "tpudist launch ... -- --check-replicas 0, where these two are to meet",
    )
    context.context().abort_collective_ops(tf.errors.INVALID_ARGUMENT, str(message))
