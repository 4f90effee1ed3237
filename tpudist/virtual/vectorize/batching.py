"""Batches a segment of a program: it becomes one call for all replicas.

:mod:`batched_graph` batches op by op, with the rules of :mod:`rules`. An op that cannot be batched
is copied once per replica. Ops are serialized that one replica must finish before the next begins.
"""

from __future__ import annotations

import collections
import os
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import tensorflow as tf

from tpudist import machine
from tpudist.tfcompat import functions, graphs, placed_graphs
from tpudist.virtual import explanations
from tpudist.virtual.trace import dependencies, segments, tpu_numbers
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.vectorize import batched_graph, called_functions
from tpudist.virtual.vectorize.values import batched_values, layouts
from tpudist.virtual.vectorize.values.layouts import from_replicas

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor, TracedFunction
    from tpudist.virtual.replicas.program import Program
    from tpudist.virtual.trace.segments import Segment
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue

    #: The batched value of each tensor of the trace.
    Values = IdentityMap[Tensor, BatchedValue]


#: Ops that assign a whole variable.
_ASSIGNS = ("AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp")


class Around(NamedTuple):
    """Ops of the trace that are done around a segment."""

    reads: list[Operation]  # before it
    assignments: list[Operation]  # after it


class BatchedSegment(NamedTuple):
    """A segment for all replicas."""

    #: If it would compute nothing, a list: for each output tensor the position of the input that
    #: it is.
    function: TracedFunction | list[int]
    inputs: list[Tensor]  # of the trace
    outputs: list[tuple[Tensor, BatchedValue]]  # of the trace
    around: Around


def batch_segment(program: Program, segment: Segment, known: Values) -> BatchedSegment | None:
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
    batched, reason = None, "it has a loop of TensorFlow 1"
    try:
        batched = _batch(program, segment, known)
    except batched_values.NotBatchable as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001
        reason = batched_graph.failure_reason(error)
    if batched is None:
        explanation.segment = explanations.Record()
        for op in segment.body:
            explanation.segment.note(op, reason)
    counted.add(explanation.segment)
    explanation.segment = counted
    return batched


def _batch(program: Program, segment: Segment, values: Values) -> BatchedSegment | None:
    """The `BatchedSegment` of a segment; None if it has a loop of TensorFlow 1."""
    segment, around = _split_off(segment, values)
    body = dependencies.sorted_ops(segment.body)
    if body is None:
        return None
    for op in around.reads + around.assignments:
        program.explanation.segment.note(op, "each replica has its own variable")
        program.explanation.built += program.num_replicas
        for tensor in op.outputs:
            values[tensor] = batched_values.Batch(program.num_replicas, tensor.shape.as_list())
    inputs = IdentityMap((tensor, values[tensor]) for tensor in segment.inputs)
    with program.outer.as_default():
        # All ops get this one device, not those that the outer graph would give them.
        graph = placed_graphs.PlacedGraph("replicas_segment", program.extended.real_device)
    functions.add_library(program.graph, graph)
    sums_only = called_functions.only_summed(body, segment.summed, segment.per_replica)
    builder = batched_graph.BatchedGraph(program, graph, sums_only, program.explanation.segment)
    with graph.building():
        for tensor in segment.inputs:
            builder.batched[tensor] = inputs[tensor].placeholders(tensor)
            graph.inputs += builder.batched[tensor].tensors()
        builder.add(body, _serialized(body, inputs))
        outputs = [
            (tensor, builder.output_value(tensor, segment.per_replica))
            for tensor in segment.outputs
        ]
        graph.outputs = [output for _, value in outputs for output in value.tensors()] or [
            tf.constant(0)
        ]
    if all(op.type in ("Placeholder", "NoOp") for op in graph.get_operations()):
        place = IdentityMap((placeholder, i) for i, placeholder in enumerate(graph.inputs))
        passed = [place[tensor] for tensor in graph.outputs]
        return BatchedSegment(passed, segment.inputs, outputs, around)
    layouts.check_fed(graph)
    with graph.building():
        tpu_numbers.round_operands(graph)
    must_run = [op for needed in segment.must_run for op in builder.ops[needed]]
    graph.control_outputs = list(collections.OrderedDict.fromkeys(must_run))
    program.explanation.built += len(graph.get_operations())
    function = functions.make(graph, noinline=False)
    return BatchedSegment(function, segment.inputs, outputs, around)


def _serialized(body: Sequence[Operation], inputs: Any) -> set[Operation]:
    """The ops of `body`, in an order in which they can run, that must be serialized.

    They are several effects on shared state (:func:`dependencies.uses`), and every op on a path
    from one of them to another; a single one is simply copied once per replica, in order.
    """

    def is_shared(handle: Tensor) -> bool:
        return isinstance(inputs.get(handle), (batched_values.Uniform, type(None)))

    uses = [(op, dependencies.uses(op, is_shared)) for op in body]
    changed = {id(root) for _, used in uses for root, changes in used if changes}
    shared = [op for op, used in uses if any(id(root) in changed for root, _ in used)]
    if len(shared) < 2:
        return set()
    later, earlier = set(shared), set(shared)  # with what needs one of them, and what one needs
    for op in body:
        if any(before in later for before in dependencies.needs(op)):
            later.add(op)
    for op in reversed(body):
        if op in earlier:
            earlier.update(dependencies.needs(op))
    return later & earlier


# Reads and assignments of each replica's own copy of a variable, around a segment. One of the trace
# becomes N, ops of a function that all variables of one shape share, and that is not inlined:
# TensorFlow optimises it once, and the graph gets one call per variable.


def _split_off(segment: Segment, values: Values) -> tuple[Segment, Around]:
    """Splits the reads and assignments that can be done around a segment off from it.

    The reads of such a variable wait for no op of the segment, nor do its ops for an assignment.
    """
    around = Around([], [])
    own = [tensor for tensor in segment.inputs if _is_own(values, tensor)]
    users: IdentityMap[Tensor, list[Operation]] = IdentityMap((tensor, []) for tensor in own)
    if not users:
        return segment, around
    body = set(segment.body)
    waited_for = {before for op in segment.body for before in dependencies.needs(op)}
    for op in segment.body:
        for tensor in dependencies.inputs_of(op):
            users.get(tensor, []).append(op)
    for ops in users.values():
        reads = [
            op
            for op in ops
            if op.type == "ReadVariableOp" and body.isdisjoint(dependencies.needs(op))
        ]
        assignments = [op for op in ops if op.type in _ASSIGNS and op not in waited_for]
        if len(reads) + len(assignments) == len(ops):
            around.reads.extend(reads)
            around.assignments.extend(assignments)
    return segments.without(segment, *around), around


def _is_own(values: Values, tensor: Tensor) -> bool:
    """Whether `tensor` is the handle of a variable of static shape with a copy per replica."""
    is_own = isinstance(values[tensor], batched_values.PerReplicaTensors)
    if not functions.is_resource(tensor) or not is_own:
        return False
    shape, _ = graphs.stored_in(tensor)
    return shape is not None and shape.is_fully_defined()


def read_or_assign(
    ops: Sequence[Operation], place: str, values: Values, cache: dict[Any, _Function]
) -> list[Operation]:
    """Adds reads or assignments for all replicas and their `values`; returns the calls."""
    done: list[Operation] = []
    for op in ops:
        inputs = [values[tensor] for tensor in dependencies.inputs_of(op)]
        key = _key(op, inputs)
        if key not in cache:
            cache[key] = _Function(op, inputs, place)
        values.update(zip(op.outputs, cache[key].call(inputs)))
        done.append(cache[key].op)
    return done


def _key(op: Operation, inputs: Any) -> tuple[Any, ...]:
    """Equal for ops that can share a function."""
    attributes = [op.get_attr(attribute.name) for attribute in op.op_def.attr]
    stored, _ = graphs.stored_in(op.inputs[0])
    layouts = [
        (type(value), *(str(tensor.shape) for tensor in value.tensors())) for value in inputs
    ]
    return (op.type, str(stored), *attributes, *layouts)


class _Function:
    """A function that reads or assigns all replicas' copies of one variable, of these `layouts`."""

    def __init__(self, op: Operation, layouts: Any, place: Any) -> None:
        self.op: Operation
        graph = placed_graphs.PlacedGraph("own_variables", place)
        with graph.building():
            inputs = [value.placeholders(tensor) for value, tensor in zip(layouts, op.inputs)]
            rows = zip(*[value.per_replica() for value in inputs])
            copies = graph.control_outputs = [functions.copy_op(op, row) for row in rows]
            columns = zip(*[copy.outputs for copy in copies])
            outputs = [from_replicas(column, t) for column, t in zip(columns, op.outputs)]
            graph.inputs = batched_values.tensors_of(inputs)
            graph.outputs = batched_values.tensors_of(outputs) or [tf.constant(0)]
        self._function = functions.make(graph, noinline=True)
        self._output_tensors, self._outputs = list(graph.outputs), outputs

    def call(self, values: Sequence[BatchedValue]) -> list[BatchedValue]:
        """Calls the function on batched `values`; returns the batched outputs."""
        with functions.unoptimised():
            outputs = functions.call(
                self._function, batched_values.tensors_of(values), self._output_tensors
            )
        self.op = outputs[0].op
        return [layout.with_tensors(outputs) for layout in self._outputs]
