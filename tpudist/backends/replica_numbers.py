"""The random numbers of replicas on devices of their own: those of the virtual TPU.

Under a global seed TensorFlow numbers the random ops of a graph: up to a merge first those of
replica 0, then those of replica 1. A worker of a cluster traces its own replicas alone; here
their ops get the numbers that they have if one process traces all. In each function that a
replica calls TensorFlow numbers from 0 again; there the number is computed from TensorFlow's and
the replica's id, for replicas draw different numbers.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence

import tensorflow as tf

from tpudist.tfcompat import distributed, functions, random_seeds, versions

if TYPE_CHECKING:
    from tpudist.annotations import Fn
    from tpudist.tfcompat.annotations import Graph, Nest, Operation


class ReplicaNumbers:
    """Gives random ops the numbers that they have where one process traces all replicas."""

    def __init__(self, extended: Any) -> None:
        own = distributed.local_replicas(extended)
        self._extended, self._first, self._own = extended, own.start, len(own)
        self._all = extended._num_replicas_in_sync
        self._replicas = [_Numbering(replica_id) for replica_id in own]

    def numbered(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """A replica function that does what `fn` does.

        Context: cross-replica; graph or ``tf.function``.
        """
        graph = tf.compat.v1.get_default_graph()
        if graph.seed is None or not versions.TRACE_ONCE:
            return fn
        fn, segment = functions.convert(fn), _Segment(graph)

        def replica(*args: Any, **kwargs: Any) -> Nest:
            native = tf.distribute.get_replica_context()
            numbering = self._replicas[native._replica_id_in_sync_group - self._first]
            native_class: Any = type(native)
            context = _numbered(native_class)(native.strategy, numbering.replica_id)
            context.numbers, context.segment = self, segment
            with numbering.of(segment), graph.device(numbering.device_function), context:
                result = fn(*args, **kwargs)
            if numbering is self._replicas[-1]:
                self.end(segment)
            return result

        return functions.do_not_convert(replica)

    def end(self, segment: _Segment) -> None:
        """Numbers the ops of a segment that all replicas of this process have traced."""
        count = random_seeds.coming_number(segment.graph) - segment.start
        each = -(-count // self._own)  # the next integer: replicas on one device may differ
        if self._own == self._all or not each:
            return
        for op, number in segment.drawn:
            random_seeds.renumber(op, number + each * self._first)
        random_seeds.skip_numbers(segment.graph, each * self._all - count)


class _Segment:
    """The random ops of all replicas of this process between two merges."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.begin()

    def begin(self) -> None:
        """Begins with what is traced from now on."""
        self.start = random_seeds.coming_number(self.graph)
        self.drawn: list[tuple[Operation, int]] = []
        #: {graph: the number of its next random op, when its last one was made}
        self.seen: Any = weakref.WeakKeyDictionary({self.graph: self.start})


class _Numbering:
    """Sees each op that a replica makes: a graph calls its `device_function` with the op."""

    def __init__(self, replica_id: int) -> None:
        self.replica_id = replica_id
        self._segment: Any = None
        self.device_function = self._see

    @contextlib.contextmanager
    def of(self, segment: _Segment) -> Iterator[None]:
        """Context manager: the ops belong to `segment`."""
        self._segment = segment
        try:
            yield
        finally:
            self._segment = None

    def _see(self, op: Operation) -> Nest:
        """Notes, or changes, the number of a random op that has no seed of its own."""
        if self._segment is not None and random_seeds.is_random(op):
            seen, coming = self._segment.seen, random_seeds.coming_number(op.graph)
            if coming > seen.get(op.graph, 0) and random_seeds.was_numbered(op, coming - 1):
                self._number(op, coming - 1)
            seen[op.graph] = coming
        return op.device

    def _number(self, op: Operation, number: int) -> None:
        if op.graph is self._segment.graph:
            self._segment.drawn.append((op, number))
        else:
            own = random_seeds.number_of_replica(number, self.replica_id)
            random_seeds.renumber(op, own)


@functools.lru_cache(maxsize=None)
def _numbered(native: Any) -> Fn:
    """The class of contexts, a subclass of `native`, of replicas whose random ops are numbered."""

    class Replica(native):
        """The context of a replica whose random ops are numbered."""

        numbers: ReplicaNumbers
        segment: _Segment

        def _merge_call(
            self, merge_fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
        ) -> Nest:
            @functions.library
            def meet(*merge_args: Any, **merge_kwargs: Any) -> Nest:
                self.numbers.end(self.segment)
                result = merge_fn(*merge_args, **merge_kwargs)
                self.segment.begin()
                return result

            return super()._merge_call(meet, args, kwargs)

    return Replica
