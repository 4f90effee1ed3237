"""Explains each step function: how much of it is batched, and why the rest is not."""

from __future__ import annotations

import collections
import contextlib
import os
import re
import time
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist import machine

if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, Sequence

    from tpudist.tfcompat.annotations import Extended, Graph, Operation


_LIBRARIES = tuple(
    os.path.join(folder, "")
    for folder in [machine.PACKAGE, os.path.dirname(os.path.abspath(tf.__file__))]
) + tuple(os.sep + name + os.sep for name in ("tensorflow", "keras", "tf_keras", "tensorflow_core"))

#: What is told where no step function was traced.
NOTHING = (
    "no step function was batched: none was traced; what runs eagerly, op by op, is done once "
    "per replica"
)

#: The files that AutoGraph writes.
_AUTOGRAPHS = re.compile(r"(^|[/\\\\])(tmp|__autograph_generated_file)\w{8}\.py$")

#: Ops that compute nothing.
_NOTHING = ("Const", "NoOp", "Placeholder")

#: Lists that collect every explanation; see :func:`recording`.
_recordings: list[Any] = []

#: A group of ops that are done once per replica: their type, where the user's code makes
#: them, and why.
Apart = collections.namedtuple("Apart", "op_type place reason")


class Record:
    """How the ops of a function were done.

    Attributes:
      batched: number of ops that are done for all replicas at once.
      apart: {`Apart`: number of ops that are done once per replica}.
    """

    def __init__(self) -> None:
        self.batched = 0
        self.apart: collections.Counter[Apart] = collections.Counter()

    def note(self, op: Operation, reason: str) -> None:
        """Notes an op of the trace; `reason` says why it is not batched, None if it is."""
        if op.type in _NOTHING:
            return
        if reason is None:
            self.batched += 1
        else:
            self.apart[Apart(op.type, place(op), reason)] += 1

    def add(self, other: Any) -> None:
        """Adds what `other` has noted."""
        self.batched += other.batched
        self.apart.update(other.apart)


class Explanation:
    """What became of one step function.

    Args:
      function: the replica function.
      count: number of replicas.

    Attributes:
      name: the function's name and place.
      record: the `Record`; of nothing if no op is batched.
      reason: why no op is batched, or None.
      traced: number of ops of the trace.
      built: number of ops that stand for them for all replicas, if they are batched.
      seconds: what tracing and batching took.
    """

    def __init__(self, function: Any, count: int) -> None:
        self.name = self._function = function
        self.count = count
        self.record = Record()
        self.reason: str | None = None
        self.traced = self.built = 0
        self.seconds = 0.0
        self._started = time.perf_counter()

    def restart(self) -> None:
        """Forgets how ops were done: they are done anew."""
        self.record, self.built = Record(), 0

    def finish(self, graph: Graph) -> None:
        """Hands out the explanation, once the trace `graph` is batched or refused."""
        self.traced = len(graph.get_operations())
        self._hand_out(graph.get_operations())

    def _hand_out(self, ops: Sequence[Operation]) -> None:
        self.name, self._function = _name(self._function, ops), None
        self.seconds = time.perf_counter() - self._started
        for recorded in _recordings:
            recorded.append(self)

    def finish_apart(self, reason: str, ops: Sequence[Operation]) -> None:
        """Hands out the explanation of replicas that were traced one by one.

        Args:
          reason: why they were.
          ops: the ops of all of them.
        """
        self.reason = reason
        self.traced, self.built = len(ops) // self.count, len(ops)
        self._hand_out(ops)

    def told_apart(self) -> tuple[Any, ...]:
        """A key that is equal for explanations that say the same."""
        return self.name, self.count, self.traced, self.reason, tuple(sorted(self.record.apart))

    @property
    def share(self) -> Any:
        """The share of the ops that is done for all replicas at once, from 0 to 1."""
        if self.reason is not None:
            return 0.0
        everything = self.record.batched + sum(self.record.apart.values())
        return self.record.batched / everything if everything else 1.0

    def __str__(self) -> Any:
        head = "%s: %.0f %% of its ops batched for %d replicas" % (
            self.name,
            100 * self.share if self.share == 1 else min(99, 100 * self.share),
            self.count,
        )
        cost = "  %d ops traced, %d built, in %.1f s" % (
            self.traced,
            self.built or self.traced * self.count,
            self.seconds,
        )
        if self.reason is not None:
            return "%s\n%s\n  all once per replica: %s" % (head, cost, self.reason)
        return "\n".join([head, cost] + self._lines())

    def _lines(self) -> list[Any]:
        ordered = sorted(self.record.apart.items(), key=lambda item: (-item[1], item[0]))
        return [
            "  %s: %s%s once per replica: %s"
            % (found.place, found.op_type, " x %d" % times if times > 1 else "", found.reason)
            for found, times in ordered
        ]


def place(op: Operation) -> str:
    """``file:line`` of the user's code that made `op`; ``?`` if there is none."""
    for frame in reversed(op.traceback or ()):
        file, line = _pair(frame)[:2]
        if not any(part in file for part in _LIBRARIES):
            return "%s:%d" % (file, line)
    return "?"


def _pair(frame: Any) -> Any:
    return (frame.filename, frame.lineno) if hasattr(frame, "filename") else frame


def _name(function: Any, ops: Sequence[Operation]) -> str:
    """The function's name, and where it is defined; if AutoGraph wrote it, where it begins."""
    function = getattr(function, "python_function", function)
    inner = getattr(function, "__wrapped__", function)
    code = getattr(inner, "__code__", None)
    name = getattr(inner, "__name__", repr(inner))
    if code and not _AUTOGRAPHS.search(code.co_filename):
        return "%s (%s:%d)" % (name, code.co_filename, code.co_firstlineno)
    places = (place(op) for op in ops if op.type not in _NOTHING)
    return "%s (%s)" % (name, next((found for found in places if found != "?"), "?"))


def told(made: Any) -> Any:
    """Explanations as a str, each once: a tf.function is traced twice if it makes variables."""
    found = collections.OrderedDict((each.told_apart(), each) for each in made)
    return "\n".join(map(str, found.values())) or NOTHING


@contextlib.contextmanager
def of_replicas_apart(extended: Extended, fn: Callable[..., Any], reason: str) -> Iterator[Any]:
    """Explains the replicas of `fn` that are traced one by one in the block.

    Args:
      extended: the `VirtualExtended`.
      fn: the replica function.
      reason: why they are.
    """
    explanation = Explanation(fn, extended._num_replicas_in_sync)
    graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
    start = graph and len(graph.get_operations())
    yield
    if graph is not None:
        explanation.finish_apart(reason, graph.get_operations()[start:])
        extended.explanations.append(explanation)


@contextlib.contextmanager
def recording() -> Iterator[Any]:
    """Collects the explanations of all step functions that are traced in the block.

    Yields:
      The list that they are added to.
    """
    made: list[Any] = []
    _recordings.append(made)
    try:
        yield made
    finally:
        _recordings.remove(made)
