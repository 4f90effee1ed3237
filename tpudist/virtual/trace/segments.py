"""Cuts the trace of a replica function into segments, at its merges."""

from __future__ import annotations

import bisect
import collections
from typing import TYPE_CHECKING, Iterable, NamedTuple, Sequence

import tensorflow as tf

from tpudist.tfcompat import functions, made_ops, random_seeds
from tpudist.virtual.trace import dependencies, tpu_numbers
from tpudist.virtual.trace.dependencies import IdentityMap

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import FunctionGraph, Graph, Operation, Tensor, TracedFunction
    from tpudist.virtual.replicas.program import Program

    #: Tensors in order, each mapped to itself.
    Tensors = IdentityMap[Tensor, Tensor]


#: A program of at most this many ops, over all replicas, is inlined: calling a
#: function costs more than optimising a few ops once per replica. A larger one
#: keeps one body per segment, which is optimised once for all replicas.
INLINED_OPS = 4096


class Segment(NamedTuple):
    """A part of a trace."""

    body: list[Operation]  # in program order
    inputs: list[Tensor]  # of the trace
    outputs: list[Tensor]
    must_run: list[Operation]  # the stateful ones
    summed: Tensors  # of the whole program, that are needed as a sum over the replicas
    per_replica: Tensors  # and per replica


def cut(program: Program, results: Iterable[Tensor]) -> list[Segment | None]:
    """The segments of a trace, one before each merge and one after the last; None if empty."""
    segment_of = _assign(program)
    summed: Tensors = IdentityMap()
    per_replica = IdentityMap.of(results)
    for merge in program.merges:
        for _, source, replica in merge.used():
            source = dependencies.origin(source)
            (summed if replica == "sum" else per_replica)[source] = source
        per_replica.update(IdentityMap.of(map(dependencies.origin, merge.captured())))
    live = _live(program, segment_of, list(summed.values()) + list(per_replica.values()))
    bodies: list[list[Operation]] = [[] for _ in range(len(program.merges) + 1)]
    for op in [op for op in segment_of if op in live]:
        bodies[segment_of[op]].append(op)
        for tensor in dependencies.inputs_of(op):
            if segment_of.get(tensor.op, segment_of[op]) != segment_of[op]:
                per_replica[tensor] = tensor
    trace_inputs = _inputs_of_trace(program)
    must = program.must_run
    return [
        _segment(must, ops, trace_inputs, summed, per_replica) if ops else None for ops in bodies
    ]


def without(segment: Segment, before: Iterable[Operation], after: Iterable[Operation]) -> Segment:
    """A segment without some of its ops, which are done `before` or `after` it instead."""
    removed = set(before).union(after)
    per_replica = IdentityMap(segment.per_replica)
    per_replica.update(
        IdentityMap.of(tensor for op in after for tensor in dependencies.inputs_of(op))
    )
    body = [op for op in segment.body if op not in removed]
    return _segment(segment.must_run, body, IdentityMap(), segment.summed, per_replica)


def _live(
    program: Program, segment_of: dict[Operation, int], tensors: Iterable[Tensor]
) -> set[Operation]:
    """The set of ops that have to run: those that `tensors` need, and the stateful ones."""
    live: set[Operation] = set()
    pending = [tensor.op for tensor in tensors] + list(program.must_run)
    while pending:
        op = pending.pop()
        if op in live or op not in segment_of:
            continue
        live.add(op)
        pending += [tensor.op for tensor in dependencies.inputs_of(op)]
        pending += dependencies.controls_of(op)
    return live


def _assign(program: Program) -> dict[Operation, int]:
    """{op: segment}, by program order; inputs of the trace are in no segment."""
    placeholders = _inputs_of_trace(program)
    flows = {merge.op: i for i, merge in enumerate(program.merges) if merge.op is not None}
    positions = [merge.position for merge in program.merges]
    operations = [
        op
        for op in program.graph.get_operations()
        if op.type != "IdentityN" and not (op.outputs and op.outputs[0] in placeholders)
    ]
    indices = {op: i for i, op in enumerate(program.graph.get_operations())}
    segment_of = collections.OrderedDict(
        (op, flows.get(op, bisect.bisect_right(positions, indices[op]))) for op in operations
    )
    pending = list(segment_of)
    while pending:  # an op, as gradients of loops have, is moved to its earliest consumer's segment
        op = pending.pop()
        for producer in [tensor.op for tensor in dependencies.inputs_of(op)]:
            if segment_of.get(producer, -1) > segment_of[op]:
                segment_of[producer] = segment_of[op]
                pending.append(producer)
    for op in flows:
        segment_of.pop(op, None)
    return segment_of


def _inputs_of_trace(program: Program) -> Tensors:
    inputs = [placeholder for placeholder, _ in program.arguments]
    inputs += [inner for _, inner in functions.captures(program.graph)]
    inputs += program.graph.inputs
    inputs += [inner for merge in program.merges for inner, _ in merge.results]
    return IdentityMap.of(inputs)


def _segment(
    must: Sequence[Operation],
    body: list[Operation],
    trace_inputs: Tensors,
    summed: Tensors,
    per_replica: Tensors,
) -> Segment:
    inside = set(body)
    inputs: Tensors = IdentityMap()
    for op in body:
        for tensor in dependencies.inputs_of(op):
            if tensor in trace_inputs or tensor.op not in inside:
                inputs[tensor] = tensor
    outputs = [
        tensor for op in body for tensor in op.outputs if tensor in summed or tensor in per_replica
    ]
    must_run = [op for op in must if op in inside]
    return Segment(body, list(inputs), outputs, must_run, summed, per_replica)


def replica_functions(program: Program, segment: Segment, shared: bool) -> list[TracedFunction]:
    """The function of a segment for each replica; one for all if it draws no random numbers.

    A random op keeps its state between the calls of a function, so each replica needs its own.
    If `shared`, a function keeps one body for all replicas.
    """
    count = program.num_replicas
    ids = range(count) if any(map(random_seeds.draws, segment.body)) else [0]
    copies = [functions.make(_copy(program, segment, i), noinline=shared) for i in ids]
    return copies if len(copies) == count else copies * count


def _copy(program: Program, segment: Segment, replica_id: int) -> FunctionGraph:
    """A FuncGraph with copies of the ops of `segment`, for one replica."""
    with program.outer.as_default():
        graph: FunctionGraph = functions.FuncGraph("replica_segment")
    functions.add_library(program.graph, graph)
    graph_def = _graph_def(program, segment, replica_id, graph)
    with graph.as_default():
        placeholders = [functions.placeholder_like(tensor) for tensor in segment.inputs]
        given = dict(zip([tensor.name for tensor in segment.inputs], placeholders))
        wanted = [t.name for t in segment.outputs] + [op.name for op in segment.must_run]
        elements = tf.graph_util.import_graph_def(
            graph_def, name="", input_map=given, return_elements=wanted
        )
        for op in segment.body:
            made_ops.copied(op, graph.get_operation_by_name(op.name))
        graph.inputs = placeholders
        graph.outputs = elements[: len(segment.outputs)] or [tf.constant(0)]
        graph.control_outputs = elements[len(segment.outputs) :]
    tpu_numbers.round_operands(graph)
    return graph


def _graph_def(program: Program, segment: Segment, replica_id: int, graph: Graph) -> object:
    """The nodes of `segment` for one replica, to be imported into `graph`."""
    graph_def = tf.compat.v1.GraphDef()
    graph_def.versions.CopyFrom(program.graph.graph_def_versions)
    names = {op.name for op in segment.body}
    variants = random_seeds.Variants(program.graph, graph, program.replica_ids[replica_id])
    for op in segment.body:
        node = graph_def.node.add()
        node.CopyFrom(op.node_def)
        controls = [each.name for each in dependencies.controls_of(op) if each.name in names]
        node.input[:] = [tensor.name for tensor in dependencies.inputs_of(op)]
        node.input.extend("^" + name for name in controls)
        if "_class" in node.attr:
            del node.attr["_class"]
        if op in program.numbers:
            node.attr["seed2"].i = program.numbers[op][replica_id]
        if functions.is_stateful(op):
            variants.call(node)
    return graph_def
