"""Random ops, their seeds, and copies of them with other seeds.

With a global seed, TensorFlow numbers the random ops of a graph without a seed of their own: from
0 (2.2 and newer), or by the ops before them. Seeds are attributes, so other numbers take copies.
"""

from __future__ import annotations

import bisect
import contextlib
import random
import zlib
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.eager import context
from tensorflow.python.framework import random_seed

from tpudist.tfcompat import functions, graphs, placed_graphs, versions

if TYPE_CHECKING:
    from types import ModuleType

    from tpudist.tfcompat.annotations import Graph, NodeDef, Operation, Tensor


_SEEDS = ("seed", "seed2")

#: {op type: whether it draws random numbers}
_random: dict[str, bool] = {}

#: What ``get_seed`` gives for the pair (0, 0), which would be no seed at all.
_NOT_ZERO = 2**31 - 1


class CountingGraph(placed_graphs.LocatedGraph):
    """A function graph that notes (ops so far, number) of each random op that was numbered."""

    seed: int | None

    def __init__(self, name: str) -> None:
        self.counted: list[tuple[int, int]] = []
        self._place = _place(tf.compat.v1.get_default_graph())
        super().__init__(name)
        if self.seed is None:  # one that eager mode starts is made in a graph without a seed
            self.seed = context.global_seed()

    def capture(self, tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Captures a tensor of another graph; a reference variable stays one."""
        own = placed_graphs.reference_inside(self, tensor)
        return own if own is not None else super().capture(tensor, *args, **kwargs)

    @property
    def _seed_used(self) -> bool:
        """Whether random ops were counted; TensorFlow sets it before it numbers one."""
        return bool(self.counted)

    @_seed_used.setter
    def _seed_used(self, used: object) -> None:
        if used and versions.COUNTS_RANDOM_OPS:
            self._count(coming_number(self))

    @property
    def _last_id(self) -> int:
        """The number of an op until 2.1, from the ops before it and those before the graph."""
        number = zlib.crc32(_place(self).encode()) % _NOT_ZERO
        self._count(number)
        return number

    def leave_out(self, ops: Sequence[Operation]) -> list[int]:
        places = super().leave_out(ops)
        self.counted = [(n - bisect.bisect_left(places, n), number) for n, number in self.counted]
        return places

    def _count(self, number: int) -> None:
        self.counted.append((len(self.get_operations()), number))


def _place(graph: Graph) -> str:
    """The numbers of ops that `graph` and those around it have so far, as text."""
    if versions.COUNTS_RANDOM_OPS:
        return ""
    return "%s %d" % (getattr(graph, "_place", ""), tf.Graph._last_id.fget(graph))


@contextlib.contextmanager
def continued(graph: CountingGraph, outer: Graph) -> Iterator[Any]:
    """Context manager: `graph` continues the numbers of `outer`, and `outer` those of `graph`."""
    skip_numbers(graph, coming_number(outer))
    del graph.counted[:]
    yield
    if versions.COUNTS_RANDOM_OPS:
        skip_numbers(outer, len(graph.counted))


def coming_number(graph: Graph) -> int:
    """The number of the next random op of `graph`; 0 where the op's place decides it."""
    return random_seed._graph_to_seed_dict.get(graph, 0) if versions.COUNTS_RANDOM_OPS else 0


@contextlib.contextmanager
def eager_numbers_of(worker: int) -> Iterator[None]:
    """Context manager: eager ops draw random numbers of this worker's own, and later the common."""
    if context.global_seed() is None:
        yield
        return
    common = context.context()._rng
    own = random.Random("%d of worker %d" % (common.getrandbits(32), worker))
    after = common.getstate()
    common.setstate(own.getstate())
    try:
        yield
    finally:
        common.setstate(after)


def numbered(graph: CountingGraph) -> list[Any]:
    """[(number of ops before it, random op without a seed, None if unused)] of each number."""
    ops, found = graph.get_operations() if graph.counted else [], []
    for position, number in graph.counted:
        of_number = (op for op in ops[position:] if is_random(op) and was_numbered(op, number))
        found.append((position, next(of_number, None)))
    return found


def numbered_inside(graph: Graph) -> list[Operation]:
    """The random ops of a branch or loop that TensorFlow numbered, which have no seed."""
    ops = graph.get_operations()
    seed = None if graph.seed is None else graph.seed % _NOT_ZERO
    seeded = [(i, op) for i, op in enumerate(ops) if is_random(op) and op.get_attr("seed") == seed]
    if versions.COUNTS_RANDOM_OPS:
        return [op for _, op in seeded if op.get_attr("seed2") < len(seeded)]
    return [op for i, op in seeded if op.get_attr("seed2") in (i, i + 1)]


def next_number(graph: Graph) -> Any:
    """The number that `graph` gives the next random op; None without a seed."""
    with graph.as_default():
        return tf.compat.v1.get_seed(None)[1]


def skip_numbers(graph: Graph, count: int) -> None:
    """Counts on by `count` random ops, as if `graph` had them."""
    for _ in range(count):
        next_number(graph)


def number_of_replica(number: int, replica_id: int) -> int:
    """The number of a random op for a replica, from that for replica 0."""
    if not replica_id:
        return number
    return zlib.crc32(("%d of replica %d" % (number, replica_id)).encode()) % _NOT_ZERO


def is_random(op: Operation) -> bool:
    """Whether `op` draws random numbers from a state of its own."""
    if op.type not in _random:
        names = {attr.name for attr in op.op_def.attr}
        _random[op.type] = functions.is_stateful(op) and names.issuperset(_SEEDS)
    return _random[op.type]


def was_numbered(op: Operation, number: int) -> bool:
    """Whether `op` has the seed that TensorFlow gives the random op of that number."""
    return op.get_attr("seed2") in (number, number or _NOT_ZERO)


def attribute(number: int) -> dict[Any, Any]:
    """The attribute that gives a random op this number."""
    return {"seed2": attr_value_pb2.AttrValue(i=number)}


def renumber(op: Operation, number: int) -> None:
    """Gives `op`, of a graph that has not run, another number."""
    op._set_attr("seed2", attr_value_pb2.AttrValue(i=number))


class Variants(graphs.FunctionCopies):
    """Copies of functions that `source` knows and draw random numbers, for one replica in `target`.

    Replica 0 calls the functions themselves; in copies for others each number, which TensorFlow
    counts from 0 in each function, is replaced by one computed from it and the replica.
    """

    def __init__(self, source: Any, target: Any, replica_id: int) -> None:
        super().__init__(source, target)
        self._replica_id = replica_id

    def call(self, node: NodeDef) -> None:
        if self._replica_id:
            super().call(node)

    def change(self, definition: Any) -> None:
        seeded = [node for node in definition.node_def if _has_seeds(node)]
        seed = self._source.seed
        for node in seeded if seed is not None else ():
            number = node.attr["seed2"].i  # TensorFlow numbered them from 0
            if node.attr["seed"].i == seed % _NOT_ZERO and number < len(seeded):
                node.attr["seed2"].i = number_of_replica(number, self._replica_id)


def draws(op: Operation) -> bool:
    """Whether `op` is a seeded random op, or calls a function that contains one."""
    if not functions.is_stateful(op):
        return False
    if is_random(op) and any(op.get_attr(name) for name in _SEEDS):
        return True
    pending, seen = [op.node_def], {""}
    while pending:
        for function in graphs.called_by(pending.pop()):
            if function.name not in seen:
                seen.add(function.name)
                body: Any = graphs.definition(op.graph, function.name)
                nodes = [] if body is None else list(body.node_def)
                if any(map(_has_seeds, nodes)):
                    return True
                pending += nodes
    return False


def _has_seeds(node: NodeDef) -> bool:
    return all(name in node.attr for name in _SEEDS) and any(node.attr[s].i for s in _SEEDS)


def module() -> ModuleType:
    """TensorFlow's module whose ``get_seed`` all random ops ask for their seeds."""
    return random_seed


def own_seeds(op_seed: int) -> tuple[int, int]:
    """The pair that ``get_seed`` returns for an op's own seed without a global one."""
    return random_seed.DEFAULT_GRAPH_SEED, random_seed._truncate_seed(op_seed)


def global_seed() -> int | None:
    """The global seed of the current context, or of the current graph."""
    if tf.executing_eagerly():
        return context.global_seed()
    return tf.compat.v1.get_default_graph().seed
