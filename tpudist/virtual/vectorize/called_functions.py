"""Reads the functions that a trace calls, and finds what is needed only as a sum over replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from tpudist.tfcompat import graphs, made_ops
from tpudist.virtual.trace import dependencies
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.vectorize import rules

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import FunctionGraph, Graph, Operation, Tensor
    from tpudist.virtual.trace.segments import Tensors


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

    What is inlined is optimised once for each copy. On a GPU all are: it has no kernels for some
    values of loops.
    """
    if op.type not in graphs.LOOPS + graphs.BRANCHES or "GPU" in (place or ""):
        return None
    called = (branches(op) if op.type in graphs.BRANCHES else loop(op)) or ()
    ops = sum(len(one.body) for one in called)
    return made_ops.NOT_INLINED if ops * count > _INLINED_OPS else None


# Tensors that are needed only as a sum over the replicas, as most gradients are.


def summed_in(function: Function, output_sums: Sequence[bool]) -> Tensors:
    """The tensors of a function needed only as sums, as its outputs with `output_sums` are."""
    pairs = list(zip(function.outputs, output_sums))
    not_summed = IdentityMap.of(tensor for tensor, is_sum in pairs if not is_sum)
    sums_only = only_summed(
        function.body, IdentityMap.of(t for t, is_sum in pairs if is_sum), not_summed
    )
    consumers, outputs = _consumers(function.body), IdentityMap.of(function.outputs)
    calls: dict[Any, Any] = {}
    for tensor in function.inputs:
        if _only_sum_needed(tensor, consumers, sums_only, not_summed, outputs, calls):
            sums_only[tensor] = tensor
    return sums_only


def summed_variables(loop: Loop, output_sums: Sequence[bool]) -> list[bool]:
    """For each variable of a loop, whether only its sum over the replicas is needed."""
    variables = list(output_sums)
    while True:
        sums_only = summed_in(loop.body, variables)
        used = IdentityMap.of(t for op in loop.condition.body for t in dependencies.inputs_of(op))
        triples = zip(variables, loop.body.inputs, loop.condition.inputs)
        still = [a_sum and own in sums_only and other not in used for a_sum, own, other in triples]
        if still == variables:
            return variables
        variables = still


def _consumers(body: Sequence[Operation]) -> IdentityMap[Tensor, list[Operation]]:
    consumers: IdentityMap[Tensor, list[Operation]] = IdentityMap()
    for op in body:
        for tensor in dependencies.inputs_of(op):
            consumers.setdefault(tensor, []).append(op)
    return consumers


def only_summed(body: Sequence[Operation], summed_outputs: Tensors, not_summed: Tensors) -> Tensors:
    """The tensors of sorted ops needed only as a sum over the replicas, each mapped to itself."""
    consumers = _consumers(body)
    sums_only: Tensors = IdentityMap()
    calls: dict[Operation, Any] = {}
    for op in reversed(body):
        for tensor in op.outputs:
            if _only_sum_needed(tensor, consumers, sums_only, not_summed, summed_outputs, calls):
                sums_only[tensor] = tensor
    return sums_only


def _only_sum_needed(
    tensor: Tensor, consumers: Any, sums_only: Any, not_summed: Any, summed_outputs: Any, calls: Any
) -> bool:
    users = consumers.get(tensor, ())
    if tensor in not_summed or not (users or tensor in summed_outputs):
        return False
    return all(_takes_sum(consumer, tensor, sums_only, calls) for consumer in users)


def _takes_sum(op: Operation, tensor: Tensor, sums_only: Any, calls: Any) -> bool:
    """Whether `op` needs only the sum of `tensor`; `calls` caches the answers for ops that call."""
    output_sums = [output in sums_only for output in op.outputs]
    if op.type not in graphs.LOOPS + CALLS or not any(output_sums):
        return _is_linear(op) and output_sums[0]
    if op not in calls:
        looped = loop(op) if op.type in graphs.LOOPS else None
        called = function(op) if op.type in CALLS else None
        calls[op] = [False] * len(op.inputs)
        if looped is not None:
            calls[op] = summed_variables(looped, output_sums)
        elif called is not None:
            sums_only = summed_in(called, output_sums)
            calls[op] = [inner in sums_only for inner in called.inputs]
    return all(
        takes for taken, takes in zip(dependencies.inputs_of(op), calls[op]) if taken is tensor
    )


def _is_linear(op: Operation) -> bool:
    """Whether `op` of sums of its inputs is the sum of its outputs."""
    if op.type not in rules.LINEAR or len(op.outputs) != 1:
        return False
    shapes = [tensor.shape for tensor in op.inputs]
    is_kept = all(each.is_fully_defined() and each == op.outputs[0].shape for each in shapes)
    return is_kept or op.type in rules.RESHAPES
