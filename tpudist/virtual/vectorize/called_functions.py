"""Reads the functions that the branches, loops and calls of a trace call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tpudist.tfcompat import graphs, made_ops
from tpudist.virtual.trace import dependencies
from tpudist.virtual.trace.dependencies import IdentityMap

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import FunctionGraph, Graph, Operation, Tensor


CALLS = ("PartitionedCall", "StatefulPartitionedCall")

#: Loops and branches of at most this many ops, summed over the replicas, are inlined: a call
#: in each round would cost more than optimising a few ops once per replica.
_INLINED_OPS = 256


class Function(NamedTuple):
    """A function that an op calls."""

    graph: Graph
    inputs: list[Tensor]  # placeholders
    body: list[Operation]  # what its outputs need, in an order in which they can run
    outputs: list[Tensor]


class Loop(NamedTuple):
    """The two functions of a loop."""

    condition: Function  # whether there is another round
    body: Function  # one round


def function(op: Operation, attribute: str = "f") -> Function | None:
    """The `Function` in an attribute of `op`; None if it is not known, or compiled by XLA."""
    return _called(op, op.node_def.attr[attribute].func)


def _called(op: Operation, name: Any) -> Function | None:
    if op.node_def.attr["_XlaMustCompile"].b:
        return None
    graph = graphs.called(op.graph, name.name)
    return None if graph is None else _read(graph)


def loop(op: Operation) -> Loop | None:
    """The `Loop` of a While op; None if one of its functions is not known."""
    condition, body = function(op, "cond"), function(op, "body")
    return None if condition is None or body is None else Loop(condition, body)


def branches(op: Operation) -> list[Function] | None:
    """The `Function` of each branch of an If or Case op; None if one is not known."""
    attributes = op.node_def.attr
    names = attributes["branches"].list.func or [
        attributes[name].func for name in ("then_branch", "else_branch")
    ]
    called = [_called(op, name) for name in names]
    known = [each for each in called if each is not None]
    return known if len(known) == len(called) else None


def _read(graph: FunctionGraph) -> Function | None:
    inputs = IdentityMap.of(graph.inputs)
    outputs = [dependencies.origin(tensor) for tensor in graph.outputs]
    live, pending = set(), [tensor.op for tensor in outputs if tensor not in inputs]
    while pending:
        op = pending.pop()
        if op not in live:
            live.add(op)
            pending += [tensor.op for tensor in dependencies.inputs_of(op) if tensor not in inputs]
            pending += [c for c in dependencies.controls_of(op) if c.type != "Placeholder"]
    body = dependencies.sorted_ops([op for op in graph.get_operations() if op in live])
    return None if body is None else Function(graph, list(graph.inputs), body, outputs)


def not_inlined_attributes(op: Operation, count: int, place: str | None) -> dict[str, Any] | None:
    """The attributes that keep TensorFlow from inlining what copies of `op` call; None if it may.

    TensorFlow inlines the ops of a branch or loop, and optimises them once for each copy. Functions
    that are not inlined it optimises once for all copies. On a GPU all are inlined: it has no
    kernels for some values of loops.
    """
    if op.type not in graphs.LOOPS + graphs.BRANCHES or "GPU" in (place or ""):
        return None
    called = (branches(op) if op.type in graphs.BRANCHES else loop(op)) or ()
    ops = sum(len(one.body) for one in called)
    return made_ops.NOT_INLINED if ops * count > _INLINED_OPS else None
