"""Prunes a trace: drops the ops that no result needs, as a Session does.

A function runs every op that has an effect. What an Estimator's specification does not name
is not run: an evaluation does not train, though its model function has made the optimizer's ops.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

from tpudist.tfcompat import distributed, nests

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Graph, Operation
    from tpudist.virtual.annotations import Program


def prune(program: Program, results: Any) -> None:
    """Leaves out of a traced `Program` the ops and merges that no result needs.

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


def prune_ops(graph: Graph, ops: Sequence[Operation], results: Any) -> None:
    """Leaves those of `ops` out of a trace's `graph` that `results` do not need."""
    needed, _ = _reached(graph, results, ())
    graph.leave_out([op for op in ops if op not in needed])


def _reached(graph: Graph, results: Any, merges: Any) -> tuple[Any, ...]:
    """The ops of a graph, and the merges, that a nest of results needs."""
    merge_of = {op: merge for merge in merges for op in merge.result_ops()}
    needed, met, pending = set(), set(), _ops_of(graph, results)
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


def _ops_of(graph: Graph, nest: Any) -> list[Any]:
    """The ops of a graph that make what is in a nest of tensors, ops and distributed values."""
    parts = [part for leaf in nests.flatten(nest) for part in distributed.components(leaf)]
    inside = [part for part in distributed.flatten(parts) if getattr(part, "graph", None) is graph]
    return [getattr(part, "op", part) for part in inside]
