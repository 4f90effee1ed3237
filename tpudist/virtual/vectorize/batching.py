"""Batches the segments of a program: one call each for all replicas.

:mod:`rules` say what becomes of each type of op, :mod:`batched_graph` does it op by op. What
cannot be batched (an op without a rule, one with an effect, one whose shapes only the run
knows) is done once per replica between the others; :mod:`serialized` tells where replicas must
not overtake each other.
"""

from __future__ import annotations

import collections
import os
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist import machine
from tpudist.tfcompat import functions, placed_graphs
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import ordering
from tpudist.virtual.vectorize import (
    batched_graph,
    batched_values,
    failed_rules,
    own_variables,
    replica_sums,
    serialized,
    stacked_variables,
    tensor_lists,
)

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Graph
    from tpudist.virtual.annotations import Program, Segment


#: A function, the tensors of the trace that it takes, its results as
#: [(tensor of the trace, batched value)], and what is done around it, `own_variables.Around`.
#: Where it would compute nothing, in place of the function a list: for each tensor of the
#: results the position of what it takes.
BatchedSegment = collections.namedtuple("BatchedSegment", "function inputs outputs around")


def batch_segments(program: Program, cut: Any, known: Any) -> Any:
    """The segments of a program, each for all replicas at once.

    Args:
      program: the traced `Program`.
      cut: its `segments.Segment` objects, None for an empty one.
      known: {tensor of the trace: batched value} of the program's inputs.

    Returns:
      A list of `BatchedSegment`; None if there is one replica, if ``TPUDIST_VECTORIZE`` is 0,
      or if the program cannot be batched. Its explanation then has the reason.
    """
    if program.num_replicas == 1:
        return _refused(program, "there is one replica")
    if os.environ.get(machine.VECTORIZE) == "0":
        return _refused(program, "%s=0" % machine.VECTORIZE)
    outlines, made = IdentityMap(known), []
    for segment, merge in zip(cut, program.merges + [None]):
        try:
            batched = segment and _batch(program, segment, outlines)
        except batched_values.NotBatchable as error:
            return _refused(program, str(error))
        except stacked_variables.NeedsHandles:
            raise
        except Exception as error:  # pylint: disable=broad-except
            return _refused(program, failed_rules.reason(error))
        if segment is not None and batched is None:
            return _refused(program, "it has a loop of TensorFlow 1")
        made.append(batched)
        outlines.update(batched.outputs if batched else ())
        for held, tensors in merge.results if merge else ():
            outlines[held] = batched_values.of_parts(
                tensors * (program.num_replicas // len(tensors)), held
            )
    return made


def _refused(program: Program, reason: str) -> None:
    program.explanation.reason = reason


def _batch(program: Program, segment: Segment, outlines: Any) -> Any:
    """The `BatchedSegment` of a segment; None if it has a loop of TensorFlow 1."""
    segment, around = own_variables.taken_out(segment, outlines)
    body = ordering.sorted_ops(segment.body)
    if body is None:
        return None
    own_variables.note(around, program, outlines)
    given = IdentityMap((tensor, outlines[tensor]) for tensor in segment.inputs)
    with program.outer.as_default():
        # One device for all, in place of what the outer graph asks for each op.
        graph = placed_graphs.PlacedGraph("replicas_segment", program.extended.real_device)
    functions.add_library(program.graph, graph)
    summed, record = replica_sums.in_segment(segment, body), program.explanation.record
    made = batched_graph.BatchedGraph(program, graph, summed, record)
    with graph.building():
        for tensor in segment.inputs:
            graph.inputs += made.take(tensor, given[tensor])
        made.add(body, serialized.ops(body, given))
        outputs = [
            (tensor, made.leaving(tensor, segment.per_replica)) for tensor in segment.outputs
        ]
        graph.outputs = [held for _, batched in outputs for held in batched.tensors()] or [
            tf.constant(0)
        ]
    passed = _passed(graph)
    if passed is not None:
        return BatchedSegment(passed, segment.inputs, outputs, around)
    tensor_lists.check_fed(graph)
    must_run = [op for must in segment.must_run for op in made.copies(must)]
    graph.control_outputs = list(collections.OrderedDict.fromkeys(must_run))
    program.explanation.built += len(graph.get_operations())
    function = functions.make(graph, noinline=False)
    return BatchedSegment(function, segment.inputs, outputs, around)


def _passed(graph: Graph) -> list[Any] | None:
    """For each output of a graph that computes nothing the position of its input, or None."""
    if not all(op.type in ("Placeholder", "NoOp") for op in graph.get_operations()):
        return None
    positions = IdentityMap((held, i) for i, held in enumerate(graph.inputs))
    return [positions[tensor] for tensor in graph.outputs]
