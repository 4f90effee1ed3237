"""Finds the tensors that are needed only as a sum over the replicas, as most gradients are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from tpudist.tfcompat import graphs
from tpudist.virtual.trace import dependencies
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.vectorize import called_functions, rules

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor
    from tpudist.virtual.trace.segments import Segment, Tensors
    from tpudist.virtual.vectorize.called_functions import Loop


def in_segment(segment: Segment, body: Sequence[Operation]) -> Tensors:
    """The tensors of a segment that are needed only as sums over the replicas."""
    return _find_sums(body, segment.summed, segment.per_replica)


def in_function(function: called_functions.Function, output_sums: Sequence[bool]) -> Tensors:
    """The tensors of a function needed only as sums, as its outputs with `output_sums` are."""
    pairs = list(zip(function.outputs, output_sums))
    not_summed = IdentityMap.of(tensor for tensor, is_sum in pairs if not is_sum)
    sums_only = _find_sums(
        function.body, IdentityMap.of(t for t, is_sum in pairs if is_sum), not_summed
    )
    consumers = _consumers(function.body)
    calls: dict[Any, Any] = {}
    for tensor in function.inputs:
        if _only_sum_needed(
            tensor, consumers, sums_only, not_summed, IdentityMap.of(function.outputs), calls
        ):
            sums_only[tensor] = tensor
    return sums_only


def of_loop(loop: Loop, output_sums: Sequence[bool]) -> list[bool]:
    """For each variable of a loop, whether only its sum over the replicas is needed."""
    variables = list(output_sums)
    while True:
        sums_only = in_function(loop.body, variables)
        used = IdentityMap.of(t for op in loop.condition.body for t in dependencies.inputs_of(op))
        still = [
            is_sum and inner in sums_only and condition_input not in used
            for is_sum, inner, condition_input in zip(
                variables, loop.body.inputs, loop.condition.inputs
            )
        ]
        if still == variables:
            return variables
        variables = still


def _consumers(body: Sequence[Operation]) -> IdentityMap[Tensor, list[Operation]]:
    consumers: IdentityMap[Tensor, list[Operation]] = IdentityMap()
    for op in body:
        for tensor in dependencies.inputs_of(op):
            consumers.setdefault(tensor, []).append(op)
    return consumers


def _find_sums(body: Sequence[Operation], summed_outputs: Tensors, not_summed: Tensors) -> Tensors:
    """The tensors of `body` needed only as a sum: a map of each to itself."""
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
    """Whether `op` needs only the sum of `tensor`, where `sums_only` are needed as sums.

    `calls` caches the answers for ops that call functions.
    """
    output_sums = [output in sums_only for output in op.outputs]
    if op.type not in graphs.LOOPS + called_functions.CALLS or not any(output_sums):
        return _is_linear(op) and output_sums[0]
    if op not in calls:
        calls[op] = _input_flags(op, output_sums)
    return all(
        takes for taken, takes in zip(dependencies.inputs_of(op), calls[op]) if taken is tensor
    )


def _input_flags(op: Operation, output_sums: Sequence[bool]) -> list[bool]:
    """For each input of a loop or call, whether only its sum is needed."""
    if op.type in graphs.LOOPS:
        loop = called_functions.loop(op)
        return of_loop(loop, output_sums) if loop else [False] * len(op.inputs)
    function = called_functions.function(op)
    sums_only = in_function(function, output_sums) if function else ()
    return (
        [inner in sums_only for inner in function.inputs] if function else [False] * len(op.inputs)
    )


def _is_linear(op: Operation) -> bool:
    """Whether `op` of sums of its inputs is the sum of its outputs."""
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
