"""Explains each step function: how much of it is batched, and why the rest is not."""

from __future__ import annotations

import collections
import contextlib
import os
import re
import time
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple, Sequence

import tensorflow as tf

from tpudist import machine

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Extended, Fn, Graph, Operation, Tensor
    from tpudist.virtual.replicas.merge import Merge


#: TensorFlow's own code; its summaries of images and of audio are TensorBoard's.
_PACKAGES = (
    *("tensorflow", "tensorflow_core", "tensorflow_estimator"),
    *("keras", "tensorboard", "tf_keras"),
)
_LIBRARIES = (
    os.path.join(machine.PACKAGE, ""),
    os.path.join(os.path.dirname(os.path.abspath(tf.__file__)), ""),
    *("-packages" + os.sep + name + os.sep for name in _PACKAGES),
)

#: Where Python's own modules are, and packages below them.
_PYTHON = os.path.join(os.path.dirname(contextlib.__file__), "")

#: The report where no step function was traced.
NOTHING_TRACED = (
    "no step function was batched: none was traced; what runs eagerly, op by op, is done once "
    "per replica"
)

#: Matches the path of a file that AutoGraph writes.
_AUTOGRAPH_FILE = re.compile(r"(^|[/\\\\])(tmp|__autograph_generated_file)\w{8}\.py$")

#: Ops that compute nothing, which are not counted.
_NOT_COUNTED = ("Const", "NoOp", "Placeholder")

#: The lists that every new explanation is added to; see :func:`recording`.
_recordings: list[Any] = []

#: {why ops are not done together: what to type}
_ADVICE = {
    "it has an effect": "what it does, outside of the replica function, with what the step returns",
    "a shape is known only when it runs": "shapes that are known, such as by "
    "batch(..., drop_remainder=True)",
    "replicas may have different numbers of rows": "batch(..., drop_remainder=True)",
    "a graph outside of run_steps_on_dataset": "tf.function around strategy.run",
    "TensorFlow before": "a newer TensorFlow, where tf.function traces once for all replicas",
}

#: {how a merge takes a tensor of the replicas: the collective that a TPU does for it}
_COLLECTIVES = {"sum": "all-reduce", "rows": "all-gather"}

#: A group of ops that are done once per replica: their type, the line of the user's code
#: that makes them, and why they are not batched.
PerReplicaOps = collections.namedtuple("PerReplicaOps", "op_type place reason")


class Record:
    """Counts ops: `batched` for all replicas at once, and those of each `PerReplicaOps`."""

    def __init__(self) -> None:
        self.batched = 0
        self.per_replica: collections.Counter[PerReplicaOps] = collections.Counter()

    def note(self, op: Operation, reason: str | None) -> None:
        """Counts an op of the trace; `reason` says why it is not batched, None if it is."""
        if op.type in _NOT_COUNTED:
            return
        if reason is None:
            self.batched += 1
        else:
            self.per_replica[PerReplicaOps(op.type, place(op), reason)] += 1

    def add(self, other: Any) -> None:
        """Adds the counts of another record."""
        self.batched += other.batched
        self.per_replica.update(other.per_replica)


class Meeting(NamedTuple):
    """A place ("file:line", or "?") where the replicas of a step meet.

    `collectives` is {name of one: (number of tensors, bytes of one replica's)}, `updated` the names
    of the variables that are updated there, once for all replicas.
    """

    place: str
    collectives: dict[str, tuple[int, int]]
    updated: tuple[str, ...]

    def __str__(self) -> str:
        said = [
            "%s of %d tensor%s, %s" % (name, count, "s" * (count > 1), _size(number))
            for name, (count, number) in self.collectives.items()
        ]
        if self.updated:
            more = " and %d more" % (len(self.updated) - 1) if len(self.updated) > 1 else ""
            said.append("update of %s%s" % (self.updated[0], more))
        return "%s: %s" % (self.place, "; ".join(said) or "the replicas meet")


class Explanation:
    """Explains how one step function is computed for all replicas.

    Attributes:
      name: the function's name and place.
      count: number of replicas.
      segments: the `Record` of each segment that is batched; empty if none is.
      segment: the `Record` of the one that is being batched.
      meetings: the `Meeting` behind each segment but the last.
      refused: the causes why a TPU would refuse it (``tpu_check.causes.Cause``).
      reason: why no op is batched, or None.
      traced: number of ops of the trace.
      built: number of ops that were built for all replicas in their place.
      seconds: how long tracing and batching took.
    """

    def __init__(self, function: object, count: int) -> None:
        self.name = self._function = function
        self.count = count
        self.segments: list[Record] = []
        self.segment = Record()
        self.meetings: list[Meeting] = []
        self.refused: list[Any] = []
        self.reason: str | None = None
        self.traced = self.built = 0
        self.seconds = 0.0
        self._started = time.perf_counter()

    def end_segment(self) -> None:
        """Begins the counts of the next segment."""
        self.segments.append(self.segment)
        self.segment = Record()

    @property
    def record(self) -> Record:
        """The counts of all segments."""
        total = Record()
        for each in [*self.segments, self.segment]:
            total.add(each)
        return total

    def next_steps(self) -> list[str]:
        """Advice, a list of str: changes that a TPU needs, else those that make it faster here."""
        if self.refused:
            return ["%s: %s" % (cause.place, cause.instead) for cause in self.refused]
        groups = [("", self.reason)] if self.reason else []
        groups += [(ops.place + ": ", ops.reason) for ops in sorted(self.record.per_replica)]
        steps = [
            where + _ADVICE[each]
            for where, reason in groups
            for each in _ADVICE
            if reason.startswith(each)
        ]
        last = "tpudist run --compile v5e:2x4 SCRIPT, which says whether it compiles and fits"
        return list(dict.fromkeys(steps)) or [last]

    def finish(self, graph: Graph, merges: Sequence[Sequence[Merge]]) -> None:
        """Hands the explanation of a trace to all recordings.

        `merges` are in its order each merge, or all those of a branch or loop.
        """
        try:
            self.meetings = [_meeting(each) for each in merges if _recordings]
        except Exception:  # of whatever kind: an explanation may not stop a program
            if os.environ.get(machine.STRICT_BATCHING) == "1":
                raise
        self.traced = len(graph.get_operations())
        self.publish(graph.get_operations())

    def publish(self, ops: Sequence[Operation]) -> None:
        """Hands the explanation of what became of `ops` to all recordings."""
        self.name, self._function = name_of(self._function, ops), None
        self.seconds = time.perf_counter() - self._started
        for recording_ in _recordings:
            recording_.append(self)

    @property
    def share(self) -> float:
        """The share of the ops that is done for all replicas at once, from 0 to 1."""
        if self.reason is not None:
            return 0.0
        record = self.record
        everything = record.batched + sum(record.per_replica.values())
        return record.batched / everything if everything else 1.0

    def __str__(self) -> str:
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
        ordered = sorted(self.record.per_replica.items(), key=lambda item: (-item[1], item[0]))
        lines = [
            "  %s: %s%s once per replica: %s"
            % (ops.place, ops.op_type, " x %d" % times if times > 1 else "", ops.reason)
            for ops, times in ordered
        ]
        return "\n".join([head, cost, *lines])

    def details(self) -> list[str]:
        """Lines on where replicas meet, what a TPU refuses, and what to type next."""
        lines = ["  " + str(each) for each in self.meetings]
        lines += [
            "  %s: a TPU refuses %s: %s" % (cause.place, ", ".join(cause.op_types), cause.why)
            for cause in self.refused
        ]
        return lines + ["  next: %s" % step for step in self.next_steps()]


def place(op: Operation) -> str:
    """``file:line`` of the user's code that made `op`; ``?`` if there is none."""
    return place_in(op.traceback or ())


def place_in(frames: Sequence[Any]) -> str:
    """``file:line`` of the innermost of the calls `frames` that is the user's; ``?`` if none is."""
    for frame in reversed(frames):
        file, line = (
            (frame.filename, frame.lineno) if hasattr(frame, "filename") else tuple(frame[:2])
        )
        of_python = file.startswith(_PYTHON) and "-packages" not in file
        if not (
            of_python or any(part in file for part in _LIBRARIES) or _AUTOGRAPH_FILE.search(file)
        ):
            return "%s:%d" % (file, line)
    return "?"


def name_of(function: object, ops: Sequence[Operation]) -> str:
    """The function's name, and where it is defined; if AutoGraph wrote it, where it begins."""
    inner = function
    for wrapped in ("python_function", "__wrapped__", "func", "__wrapped__"):
        inner = getattr(inner, wrapped, None) or inner
    code = getattr(inner, "__code__", None)
    name = getattr(inner, "__name__", type(inner).__name__).replace("tf__", "")
    if code and not _AUTOGRAPH_FILE.search(code.co_filename):
        return "%s (%s:%d)" % (name, code.co_filename, code.co_firstlineno)
    places = (place(op) for op in ops if op.type not in _NOT_COUNTED)
    return "%s (%s)" % (name, next((line for line in places if line != "?"), "?"))


def _meeting(merges: Sequence[Merge]) -> Meeting:
    """Returns the `Meeting` of a merge, or of all those in a branch or loop."""
    tensors: dict[str, dict[int, Tensor]] = {}
    for merge in merges:
        for _, source, replica in merge.used():
            name = _COLLECTIVES.get(replica, "all-gather")
            if replica in _COLLECTIVES or not merge.program.uniformity.holds(source):
                tensors.setdefault(name, {})[id(source)] = source
    collectives = {
        name: (len(found), sum(map(_bytes, found.values()))) for name, found in tensors.items()
    }
    variables = [variable for merge in merges for variable in merge.updated]
    variables += [merge.assigned for merge in merges if merge.assigned is not None]
    names = tuple(dict.fromkeys(variable.name for variable in variables))
    nearby: list[Operation] = []  # the ops of a merge, then of the trace behind it and before it
    for merge in merges:
        traced = merge.program.graph.get_operations()
        nearby += merge.graph.get_operations()
        nearby += traced[merge.position :] + traced[: merge.position][::-1]
    lines = (place(op) for op in nearby)
    return Meeting(next((line for line in lines if line != "?"), "?"), collectives, names)


def _bytes(tensor: Tensor) -> int:
    """The bytes of a tensor; 0 if its shape is known only when it runs."""
    return int((tensor.shape.num_elements() or 0) * tensor.dtype.size)


def _size(number: float) -> str:
    """A number of bytes, as people read it."""
    for unit in ("bytes", "KiB", "MiB"):
        if number < 1024:
            return "%.4g %s" % (number, unit)
        number /= 1024
    return "%.4g GiB" % number


def each_once(explanations: Iterable[Explanation]) -> list[Explanation]:
    """Explanations that say different things: a function that makes variables is traced twice."""
    return list(
        {
            (one.name, one.count, one.traced, one.reason, *sorted(one.record.per_replica)): one
            for one in explanations
        }.values()
    )


def report(explanations: Any) -> str:
    """Formats explanations as text; one that stands there twice is printed once."""
    lines = [line for one in each_once(explanations) for line in [str(one), *one.details()]]
    return "\n".join(lines) or NOTHING_TRACED


@contextlib.contextmanager
def per_replica_trace(extended: Extended, fn: Fn, reason: str) -> Iterator[Any]:
    """Explains the replicas of `fn` that are traced one by one in the block, for a `reason`."""
    explanation = Explanation(fn, len(extended.worker_devices))
    graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
    start = graph and len(graph.get_operations())
    yield explanation
    if graph is not None:
        ops, explanation.reason = graph.get_operations()[start:], reason
        explanation.traced, explanation.built = len(ops) // explanation.count, len(ops)
        explanation.publish(ops)
        extended.explanations.append(explanation)


@contextlib.contextmanager
def recording() -> Iterator[Any]:
    """Collects the explanations of all step functions that are traced in the block, in a list."""
    explanations: list[Any] = []
    _recordings.append(explanations)
    try:
        yield explanations
    finally:
        _recordings.remove(explanations)
