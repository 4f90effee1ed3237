"""Reads and assigns each replica's own copy of a variable, before and after a segment.

One read of the trace becomes N reads, and one assignment N assignments. They are ops of a function
that all variables of one shape share, and that is not inlined: TensorFlow optimises it once, and
the graph gets one call per variable, however many replicas there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, NamedTuple, Sequence

import tensorflow as tf

from tpudist.tfcompat import functions, graphs, placed_graphs
from tpudist.virtual.trace import dependencies, segments
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.vectorize.values import batched_values
from tpudist.virtual.vectorize.values.layouts import from_replicas

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor
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


def split_off(segment: Segment, values: Values) -> tuple[Segment, Around]:
    """Splits the reads and assignments that can be done around a segment off from it.

    They are the ops of a variable if each of them is a read that waits for no op of the segment, or
    an assignment that no op of the segment waits for.
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
        reads = [op for op in ops if _is_first(op, body)]
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


def _is_first(op: Operation, body: set[Operation]) -> bool:
    """Whether `op` is a read that waits for no op of the segment."""
    return op.type == "ReadVariableOp" and body.isdisjoint(dependencies.needs(op))


def note(around: Around, program: Program, values: Values) -> None:
    """Explains the ops of `around`, and adds the layouts of their outputs to `values`."""
    for op in around.reads + around.assignments:
        program.explanation.segment.note(op, "each replica has its own variable")
        program.explanation.built += program.num_replicas
        for tensor in op.outputs:
            shape = tensor.shape.as_list()
            values[tensor] = batched_values.Batch(program.num_replicas, shape)


def read_or_assign(
    ops: Sequence[Operation], place: str, values: Values, cache: dict[Any, _Function]
) -> list[Operation]:
    """Adds reads or assignments for all replicas; returns the ops of the calls.

    The batched outputs are added to `values`, and new functions to `cache`.
    """
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
            outputs, graph.control_outputs = _add_ops(op, inputs)
            graph.inputs = _tensors(inputs)
            graph.outputs = _tensors(outputs) or [tf.constant(0)]
        self._function = functions.make(graph, noinline=True)
        self._output_tensors, self._outputs = list(graph.outputs), outputs

    def call(self, values: Sequence[BatchedValue]) -> list[BatchedValue]:
        """Calls the function on batched `values`; returns the batched outputs."""
        with functions.unoptimised():
            outputs = functions.call(self._function, _tensors(values), self._output_tensors)
        self.op = outputs[0].op
        return [layout.with_tensors(outputs) for layout in self._outputs]


def _add_ops(
    op: Operation, inputs: Sequence[BatchedValue]
) -> tuple[list[BatchedValue], list[Operation]]:
    """Adds `op` for all replicas; returns its batched outputs, and the new ops."""
    copies = [
        functions.copy_op(op, own_inputs)
        for own_inputs in zip(*[value.per_replica() for value in inputs])
    ]
    columns = zip(*[copy.outputs for copy in copies])
    return [from_replicas(tensors, tensor) for tensors, tensor in zip(columns, op.outputs)], copies


def _tensors(values: Iterable[BatchedValue]) -> list[Tensor]:
    return [tensor for value in values for tensor in value.tensors()]
