"""Dependencies among the ops of a trace: what each needs, their order, and what nothing needs.

An IdentityN counts as none: its inputs pass through it.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Sequence

from tpudist.tfcompat import distributed, nests

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Graph, Operation, Tensor
    from tpudist.tfcompat.placed_graphs import LocatedGraph
    from tpudist.virtual.replicas.merge import Merge
    from tpudist.virtual.replicas.program import Program


def origin(tensor: Tensor) -> Tensor:
    """The tensor that an IdentityN passes on as `tensor`; else `tensor` itself.

    A custom gradient passes all its gradients through one IdentityN. Kept as
    an op, it would need all of them where a single one is needed.
    """
    while getattr(tensor, "op", None) is not None and (tensor.op.type == "IdentityN"):
        tensor = tensor.op.inputs[tensor.value_index]
    return tensor


def inputs_of(op: Operation) -> list[Tensor]:
    """The tensors that `op` takes, seen through every IdentityN."""
    return [origin(tensor) if tensor.op.type == "IdentityN" else tensor for tensor in op.inputs]


def controls_of(op: Operation) -> list[Operation]:
    """The ops that `op` waits for, besides those whose outputs it takes.

    In place of an IdentityN, `op` waits for the ops that the IdentityN waits for.
    """
    controls: list[Operation] = []
    for control in op.control_inputs:
        if control.type == "IdentityN":
            controls += [tensor.op for tensor in inputs_of(control)] + controls_of(control)
        else:
            controls.append(control)
    for tensor in op.inputs:
        if tensor.op.type == "IdentityN":
            controls += controls_of(tensor.op)
    return list(dict.fromkeys(controls)) if controls else controls


def needs(op: Operation) -> list[Operation]:
    """The ops that `op` waits for."""
    return [tensor.op for tensor in inputs_of(op)] + controls_of(op)


def sorted_ops(body: Sequence[Operation]) -> list[Operation] | None:
    """The ops of `body`, each after those of `body` that it needs.

    The gradient of a loop adds ops late in a trace that feed the earlier loop; else the
    order is that of the trace.

    Returns:
      A list, or None if an op needs itself: a loop of TensorFlow 1.
    """
    inside, order = set(body), []
    is_sorted: dict[Operation, bool] = {}  # False while its inputs are being sorted
    for first in body:
        pending = [first]
        while pending:
            op = pending[-1]
            if is_sorted.get(op):
                pending.pop()
                continue
            waits = [need for need in needs(op) if need in inside and not is_sorted.get(need)]
            if not waits:
                is_sorted[op] = True
                order.append(pending.pop())
            elif op in is_sorted:
                return None
            else:
                is_sorted[op] = False
                pending += reversed(waits)
    return order


def prune(program: Program, results: object) -> None:
    """Leaves out of a traced `Program` the ops and merges that no result needs, as a Session does.

    A function runs every op that has an effect. What an Estimator's specification does not name
    is not run: an evaluation does not train, though its model function has made the optimizer's
    ops.

    Args:
      program: the `Program`; its deliveries are needed too.
      results: what the replica function returned.
    """
    program.uniformity.learn()
    graph = program.graph
    needed, merges = _reached(graph, [results, program.deliveries], program.merges)
    left_out = graph.leave_out([op for op in graph.get_operations() if op not in needed])
    program.merges[:] = [merge for merge in program.merges if merge in merges]
    for merge in program.merges:
        merge.position -= bisect.bisect_left(left_out, merge.position)


def prune_ops(graph: LocatedGraph, ops: Sequence[Operation], results: object) -> None:
    """Leaves those of `ops` out of a trace's `graph` that `results` do not need."""
    needed, _ = _reached(graph, results, ())
    graph.leave_out([op for op in ops if op not in needed])


def _reached(
    graph: Graph, results: object, merges: Sequence[Merge]
) -> tuple[set[Operation], set[Merge]]:
    """The ops of a graph, and the merges, that a nest of results needs."""
    merge_of = {op: merge for merge in merges for op in merge.result_ops()}
    needed: set[Operation] = set()
    met: set[Merge] = set()
    pending = _ops_of(graph, results)
    while pending:
        op = pending.pop()
        if op in needed:
            continue
        needed.add(op)
        pending += [tensor.op for tensor in op.inputs]
        pending += op.control_inputs
        if op in merge_of and merge_of[op] not in met:
            met.add(merge_of[op])
            pending += merge_of[op].input_ops()
    return needed, met


def _ops_of(graph: Graph, nest: object) -> list[Operation]:
    """The ops of a graph that make what is in a nest of tensors, ops and distributed values."""
    parts = [part for leaf in nests.flatten(nest) for part in distributed.components(leaf)]
    inside = [part for part in distributed.flatten(parts) if getattr(part, "graph", None) is graph]
    return [getattr(part, "op", part) for part in inside]
