"""Finds the tensors that are needed only as a sum over the replicas: gradients, above all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import segments
from tpudist.virtual.vectorize import called_functions, rules

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Operation, Tensor
    from tpudist.virtual.annotations import Loop, Segment


def in_segment(segment: Segment, body: Sequence[Operation]) -> Any:
    """The tensors of a segment of which only the sum over the replicas is needed.

    Args:
      segment: a `segments.Segment`.
      body: its ops, each after those that it needs.
    """
    return _needed(body, segment.summed, segment.per_replica)


def in_function(function: Any, wanted: Any) -> Any:
    """The same in a function that an op calls.

    Args:
      function: a `called_functions.Function`.
      wanted: for each of its outputs, whether the sum over the replicas is enough.
    """
    pairs = list(zip(function.outputs, wanted))
    each = IdentityMap.of(tensor for tensor, is_sum in pairs if not is_sum)
    needed = _needed(function.body, IdentityMap.of(t for t, is_sum in pairs if is_sum), each)
    consumers = _consumers(function.body)
    calls: dict[Any, Any] = {}
    for tensor in function.inputs:
        if _is_enough(tensor, consumers, needed, each, IdentityMap.of(function.outputs), calls):
            needed[tensor] = tensor
    return needed


def of_loop(loop: Loop, wanted: Any) -> Any:
    """For each variable of a loop, whether its sum over the replicas is enough.

    Args:
      loop: a `called_functions.Loop`.
      wanted: for each output of the loop, whether that is enough.
    """
    enough = list(wanted)
    while True:
        needed = in_function(loop.body, enough)
        used = IdentityMap.of(t for op in loop.condition.body for t in segments.inputs_of(op))
        found = [
            is_sum and inner in needed and asked not in used
            for is_sum, inner, asked in zip(enough, loop.body.inputs, loop.condition.inputs)
        ]
        if found == enough:
            return enough
        enough = found


def _consumers(body: Sequence[Operation]) -> Any:
    consumers = IdentityMap()
    for op in body:
        for tensor in segments.inputs_of(op):
            consumers.setdefault(tensor, []).append(op)
    return consumers


def _needed(body: Sequence[Operation], wanted: Any, each: Any) -> Any:
    """{tensor: tensor} whose sum is enough, where that of `wanted` is and `each` are not sums."""
    consumers = _consumers(body)
    summed = IdentityMap()
    calls: dict[Operation, Any] = {}
    for op in reversed(body):
        for tensor in op.outputs:
            if _is_enough(tensor, consumers, summed, each, wanted, calls):
                summed[tensor] = tensor
    return summed


def _is_enough(
    tensor: Tensor, consumers: Any, summed: Any, each: Any, wanted: Any, calls: Any
) -> bool:
    used = consumers.get(tensor, ())
    if tensor in each or not (used or tensor in wanted):
        return False
    return all(_passes_on(consumer, tensor, summed, calls) for consumer in used)


def _passes_on(op: Operation, tensor: Tensor, summed: Any, calls: Any) -> bool:
    """Whether the sum of `tensor` is enough for `op`, of whose outputs `summed` are sums.

    `calls` keeps what was found for ops that call functions.
    """
    wanted = [output in summed for output in op.outputs]
    if op.type not in called_functions.LOOPS + called_functions.CALLS or not any(wanted):
        return _is_linear(op) and wanted[0]
    if op not in calls:
        calls[op] = _of_inputs(op, wanted)
    return all(
        enough for given, enough in zip(segments.inputs_of(op), calls[op]) if given is tensor
    )


def _of_inputs(op: Operation, wanted: Any) -> Any:
    """For each input of a loop or call, whether its sum is enough."""
    if op.type in called_functions.LOOPS:
        loop = called_functions.loop(op)
        return of_loop(loop, wanted) if loop else [False] * len(op.inputs)
    function = called_functions.function(op)
    needed = in_function(function, wanted) if function else ()
    return [inner in needed for inner in function.inputs] if function else [False] * len(op.inputs)


def _is_linear(op: Operation) -> bool:
    """Whether a sum of outputs of `op` is its output for sums of inputs."""
    return (
        op.type in rules.LINEAR
        and len(op.outputs) == 1
        and all(
            op.type in rules.RESHAPES
            or tensor.shape.is_fully_defined()
            and tensor.shape == op.outputs[0].shape
            for tensor in op.inputs
        )
    )
