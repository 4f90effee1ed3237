"""Reads the functions that branches, loops and calls of a trace call, and what they need."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from tpudist.tfcompat import graphs, made_ops
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import ordering, segments

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Graph, Operation


LOOPS = ("While", "StatelessWhile")
BRANCHES = ("Case", "If", "StatelessCase", "StatelessIf")
CALLS = ("PartitionedCall", "StatefulPartitionedCall")

#: Loops and branches of at most this many ops, over all replicas, are put into the graph that
#: has them: a call in each round costs more than optimising a few ops once per replica.
_INLINED_OPS = 256

#: A function: its graph; the placeholders it takes; the ops that its outputs need, each
#: after those that it needs; its outputs.
Function = collections.namedtuple("Function", "graph inputs body outputs")

#: A loop: whether there is another round, and one round.
Loop = collections.namedtuple("Loop", "condition body")


def function(op: Operation, attribute: str = "f") -> Any:
    """The `Function` that `op` calls; None if it is not known or compiled by XLA."""
    return _called(op, op.node_def.attr[attribute].func)


def _called(op: Operation, name: Any) -> Any:
    if op.node_def.attr["_XlaMustCompile"].b:
        return None
    graph = graphs.called(op.graph, name.name)
    return None if graph is None else _read(graph)


def loop(op: Operation) -> Any:
    """The `Loop` of a While op; None if a function of it is not known."""
    condition, body = function(op, "cond"), function(op, "body")
    return None if condition is None or body is None else Loop(condition, body)


def branches(op: Operation) -> Any:
    """The `Function` objects of an If op, two, or of a Case op; None if one is not known."""
    attributes = op.node_def.attr
    names = attributes["branches"].list.func or [
        attributes[name].func for name in ("then_branch", "else_branch")
    ]
    found = [_called(op, name) for name in names]
    return None if None in found else found


def _read(graph: Graph) -> Any:
    inputs = IdentityMap.of(graph.inputs)
    outputs = [segments.origin(tensor) for tensor in graph.outputs]
    live, pending = set(), [tensor.op for tensor in outputs if tensor not in inputs]
    while pending:
        op = pending.pop()
        if op not in live:
            live.add(op)
            pending += [tensor.op for tensor in segments.inputs_of(op) if tensor not in inputs]
            pending += [c for c in segments.controls_of(op) if c.type != "Placeholder"]
    body = ordering.sorted_ops([op for op in graph.get_operations() if op in live])
    return None if body is None else Function(graph, list(graph.inputs), body, outputs)


def kept_apart(op: Operation, count: int, place: Any) -> Any:
    """The attributes of copies of `op` whose functions stay functions; None if it has none.

    TensorFlow puts the ops of a branch or loop into the graph that has it, and optimises them
    there, for each copy anew. Kept apart they are optimised once for all copies.

    Args:
      op: an op of a trace that is done once per replica.
      count: number of replicas.
      place: the device; on a GPU, which has no kernels for all that a loop holds, none is kept.
    """
    if op.type not in LOOPS + BRANCHES or "GPU" in (place or ""):
        return None
    found = (branches(op) if op.type in BRANCHES else loop(op)) or ()
    ops = sum(len(each.body) for each in found)
    return made_ops.NOT_INLINED if ops * count > _INLINED_OPS else None
