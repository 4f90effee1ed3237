"""Reads and assigns variables of which each replica has its own, before and after a segment.

For one read there are N, and N assignments for one; two where copies are rows. They stand in
a function that variables of one shape share and that is not inlined: TensorFlow optimises it
once, and the graph gets one op for each variable, however many replicas there are.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import calls, functions, graphs, placed_graphs
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import ordering, segments
from tpudist.virtual.variables import stacked_copies
from tpudist.virtual.vectorize import batched_values, stacked_variables

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Operation, Tensor
    from tpudist.virtual.annotations import Program, Segment


#: Ops of the trace that are done before a segment, and those that are done after it.
Around = collections.namedtuple("Around", "reads assignments")


def taken_out(segment: Segment, held: Any) -> tuple[Any, ...]:
    """A segment without the ops that can be done around it, and these ops, an `Around`.

    They are those of each variable of which it needs but a first value and a last one.

    Args:
      segment: a `segments.Segment`.
      held: {tensor that it takes: batched value}.
    """
    around = Around([], [])
    users = IdentityMap((tensor, []) for tensor in segment.inputs if _is_own(held, tensor))
    if not users:
        return segment, around
    inside = set(segment.body)
    waited_for = {before for op in segment.body for before in ordering.needs(op)}
    for op in segment.body:
        for tensor in segments.inputs_of(op):
            users.get(tensor, []).append(op)
    for ops in users.values():
        reads = [op for op in ops if _is_first(op, inside)]
        last = [op for op in ops if op.type in stacked_copies.ASSIGNS and op not in waited_for]
        if len(reads) + len(last) == len(ops):
            around.reads.extend(reads)
            around.assignments.extend(last)
    return segments.without(segment, *around), around


def _is_own(held: Any, tensor: Tensor) -> bool:
    """Whether `tensor` is the handle of a variable of a known shape that each replica has."""
    own = batched_values.PerReplicaTensors, stacked_variables.Handles
    if not functions.is_resource(tensor) or not isinstance(held[tensor], own):
        return False
    shape, _ = graphs.stored_in(tensor)
    return shape is not None and shape.is_fully_defined()


def _is_first(op: Operation, inside: Any) -> Any:
    return op.type == "ReadVariableOp" and inside.isdisjoint(ordering.needs(op))


def note(around: Any, program: Program, outlines: Any) -> None:
    """Notes in the explanation of `program` what is done around, in `outlines` what is read."""
    for op in around.reads + around.assignments:
        handles = outlines[op.inputs[0]]
        apart = isinstance(handles, batched_values.PerReplicaTensors)
        program.explanation.record.note(op, "each replica has its own variable" if apart else None)
        program.explanation.built += handles.width
        for tensor in op.outputs:
            shape = tensor.shape.as_list()
            outlines[tensor] = batched_values.Batch(program.num_replicas, shape)


def do(ops: Sequence[Operation], place: Any, known: Any, made: Any) -> Any:
    """Does reads or assignments for all replicas.

    Args:
      ops: ops of the trace.
      place: the device that they are done on.
      known: {tensor of the trace: batched value}, to which what they give is added.
      made: {what tells functions apart: `_Function`}, to which what is made is added.

    Returns:
      The ops that do it.
    """
    done = []
    for op in ops:
        given = [known[tensor] for tensor in segments.inputs_of(op)]
        key = _key(op, given)
        if key not in made:
            made[key] = _Function(op, given, place)
        known.update(zip(op.outputs, made[key].called(given)))
        done.append(made[key].op)
    return done


def _key(op: Operation, given: Any) -> tuple[Any, ...]:
    attributes = [op.get_attr(attribute.name) for attribute in op.op_def.attr]
    stored, _ = graphs.stored_in(op.inputs[0])
    held = [(type(value), *(str(tensor.shape) for tensor in value.tensors())) for value in given]
    return (op.type, str(stored), *attributes, *held)


class _Function:
    """A read or assignment of all replicas' own variables.

    Args:
      op: the read or assignment of the trace.
      given: the batched value of each of its inputs.
      place: the device that it is done on.

    Attributes:
      op: the last call of it.
    """

    def __init__(self, op: Operation, given: Any, place: Any) -> None:
        self.op = None
        graph = placed_graphs.PlacedGraph("own_variables", place)
        with graph.building():
            held = [value.held(tensor) for value, tensor in zip(given, op.inputs)]
            parts, graph.control_outputs = _done(op, held)
            graph.inputs = _tensors(held)
            graph.outputs = _tensors(parts) or [tf.constant(0)]
        self._function = functions.make(graph, noinline=True)
        self._like, self._outputs = list(graph.outputs), parts

    def called(self, given: Any) -> Any:
        """The batched values of the outputs for inputs that are held as `given` are."""
        inputs, found = _tensors(given), None
        if self.op is not None:
            found = calls.call_again(self.op, inputs, self._like)
        if found is None:
            with calls.as_they_are():
                found = calls.call(self._function, inputs, self._like)
        self.op = found[0].op
        return [outline.like(found) for outline in self._outputs]


def _done(op: Operation, held: Any) -> Any:
    """The batched values of the outputs of `op`, and the ops that do it for all replicas."""
    if isinstance(held[0], stacked_variables.Handles):
        return stacked_variables.do(op, held)
    made = [functions.copy_op(op, inputs) for inputs in zip(*[value.each() for value in held])]
    columns = zip(*[copy.outputs for copy in made])
    return [batched_values.of_parts(each, t) for each, t in zip(columns, op.outputs)], made


def _tensors(values: Any) -> list[Any]:
    return [tensor for value in values for tensor in value.tensors()]
