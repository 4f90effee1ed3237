"""Batches a segment of a program: it becomes one call for all replicas.

:mod:`batched_graph` batches op by op, with the rules of :mod:`rules`. An op that cannot be
batched (there is no rule, it has an effect, or its shapes are not known while tracing) is
copied once per replica among the others. Ops are serialized that one replica must finish before
the next one begins them.
"""

from __future__ import annotations

import collections
import functools
import os
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import tensorflow as tf

from tpudist import machine
from tpudist.tfcompat import functions, placed_graphs
from tpudist.virtual import explanations
from tpudist.virtual.trace import dependencies, tpu_numbers
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.vectorize import batched_graph, own_variables, replica_sums
from tpudist.virtual.vectorize.values import batched_values, tensor_lists

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import FunctionGraph, Operation, Tensor, TracedFunction
    from tpudist.virtual.replicas.program import Program
    from tpudist.virtual.trace.segments import Segment
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


class BatchedSegment(NamedTuple):
    """A segment for all replicas."""

    #: If it would compute nothing, a list: for each output tensor the position of the input that
    #: it is.
    function: TracedFunction | list[int]
    inputs: list[Tensor]  # of the trace
    outputs: list[tuple[Tensor, BatchedValue]]  # of the trace
    around: own_variables.Around


def batch_segment(
    program: Program, segment: Segment, known: own_variables.Values
) -> BatchedSegment | None:
    """Batches a segment of a program, with the batched value `known` of each input.

    `known` gets the layouts of what is read around the segment. None is returned if there is one
    replica, if ``TPUDIST_VECTORIZE`` is 0, or if the segment cannot be batched; the program's
    explanation then says why.
    """
    explanation = program.explanation
    if program.num_replicas == 1:
        explanation.reason = "there is one replica"
    elif os.environ.get(machine.VECTORIZE) == "0":
        explanation.reason = "%s=0" % machine.VECTORIZE
    if explanation.reason is not None:
        return None
    counted, explanation.segment = explanation.segment, explanations.Record()
    batched, reason = _batched_or_reason(program, segment, known)
    if batched is None:
        explanation.segment = explanations.Record()
        for op in segment.body:
            explanation.segment.note(op, reason)
    counted.add(explanation.segment)
    explanation.segment = counted
    return batched


def _batched_or_reason(
    program: Program, segment: Segment, known: own_variables.Values
) -> tuple[BatchedSegment | None, str]:
    """(the `BatchedSegment`, ""), or (None, the reason why the segment cannot be batched)."""
    try:
        batched = _batch(program, segment, known)
    except batched_values.NotBatchable as error:
        return None, str(error)
    except Exception as error:  # noqa: BLE001
        return None, batched_graph.failure_reason(error)
    return batched, "" if batched else "it has a loop of TensorFlow 1"


def _batch(
    program: Program, segment: Segment, values: own_variables.Values
) -> BatchedSegment | None:
    """The `BatchedSegment` of a segment; None if it has a loop of TensorFlow 1."""
    segment, around = own_variables.split_off(segment, values)
    body = dependencies.sorted_ops(segment.body)
    if body is None:
        return None
    own_variables.note(around, program, values)
    inputs = IdentityMap((tensor, values[tensor]) for tensor in segment.inputs)
    with program.outer.as_default():
        # All ops get this one device, not those that the outer graph would give them.
        graph = placed_graphs.PlacedGraph("replicas_segment", program.extended.real_device)
    functions.add_library(program.graph, graph)
    sums_only, record = replica_sums.in_segment(segment, body), program.explanation.segment
    builder = batched_graph.BatchedGraph(program, graph, sums_only, record)
    with graph.building():
        for tensor in segment.inputs:
            graph.inputs += builder.add_input(tensor, inputs[tensor])
        builder.add(body, _serialized(body, inputs))
        outputs = [
            (tensor, builder.output_value(tensor, segment.per_replica))
            for tensor in segment.outputs
        ]
        graph.outputs = [output for _, value in outputs for output in value.tensors()] or [
            tf.constant(0)
        ]
    positions = _passed_positions(graph)
    if positions is not None:
        return BatchedSegment(positions, segment.inputs, outputs, around)
    tensor_lists.check_fed(graph)
    with graph.building():
        tpu_numbers.round_operands(graph)
    must_run = [op for needed in segment.must_run for op in builder.ops_of(needed)]
    graph.control_outputs = list(collections.OrderedDict.fromkeys(must_run))
    program.explanation.built += len(graph.get_operations())
    function = functions.make(graph, noinline=False)
    return BatchedSegment(function, segment.inputs, outputs, around)


def _passed_positions(graph: FunctionGraph) -> list[int] | None:
    """For each output the position of the input that it is; None if the graph computes."""
    if not all(op.type in ("Placeholder", "NoOp") for op in graph.get_operations()):
        return None
    positions = IdentityMap((placeholder, i) for i, placeholder in enumerate(graph.inputs))
    return [positions[tensor] for tensor in graph.outputs]


def _serialized(body: Sequence[Operation], inputs: Any) -> set[Operation]:
    """The ops of `body`, in an order in which they can run, that must be serialized.

    Without vectorization a segment is run by one replica after the other. That order is kept where
    effects on shared state (:func:`dependencies.uses`) could show another one. A single such effect
    in a segment is simply copied once per replica, in order. Several are serialized, together with
    every op that lies on a path from one of them to another.
    """
    uses = [(op, dependencies.uses(op, functools.partial(_is_shared, inputs))) for op in body]
    changed = {id(root) for _, used in uses for root, changes in used if changes}
    shared = [op for op, used in uses if any(id(root) in changed for root, _ in used)]
    if len(shared) < 2:
        return set()
    return _after(body, shared) & _before(body, shared)


def _is_shared(inputs: Any, handle: Tensor) -> bool:
    """Whether all replicas use the same resource through `handle`."""
    return isinstance(inputs.get(handle), (batched_values.Uniform, type(None)))


def _after(body: Sequence[Operation], start: Any) -> set[Operation]:
    """`start`, and the ops of `body` that need one of them, at any distance."""
    later = set(start)
    for op in body:
        if any(before in later for before in dependencies.needs(op)):
            later.add(op)
    return later


def _before(body: Sequence[Operation], end: Any) -> set[Operation]:
    """`end`, and the ops of `body` that one of them needs, at any distance."""
    earlier = set(end)
    for op in reversed(body):
        if op in earlier:
            earlier.update(dependencies.needs(op))
    return earlier
