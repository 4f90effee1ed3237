"""Builds the calls of a traced program's segments, and of the merges between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.tfcompat import distributed, functions, graphs, nests
from tpudist.virtual import reductions, vectorize
from tpudist.virtual.replicas import flows
from tpudist.virtual.trace import dependencies, function_graphs, segments, tpu_numbers
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.variables import storage, stored_once

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Nest, Operation, Tensor, Variable
    from tpudist.virtual.replicas.merge import Merge
    from tpudist.virtual.replicas.program import Part, Program
    from tpudist.virtual.trace.segments import Segment
    from tpudist.virtual.vectorize import BatchedSegment
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


class Calls:
    """Builds the calls of a traced `Program`, which returned `results`; has batched values."""

    def __init__(self, program: Program, results: object) -> None:
        self._program = program
        self._count = program.num_replicas
        self._results = results
        self._batched_values: IdentityMap[Any, Any] = IdentityMap()
        self._sums: IdentityMap[Any, Any] = IdentityMap()
        self._last: list[Any] = []
        self._own_functions: dict[Any, Any] = {}

    def build(self) -> Nest:
        """Calls all segments and merges; returns the results, with a ``PerReplica`` per tensor."""
        program = self._program
        with program.outer.as_default(), program.extended.place():
            for placeholder, tensors in program.arguments:
                self._batched_values[placeholder] = vectorize.from_replicas(tensors, placeholder)
            for external, placeholder in functions.captures(program.graph):
                self._batched_values[placeholder] = self._captured(external, placeholder)
            leaves = distributed.flatten([self._results, [v for v, _ in program.deliveries]])
            tensors = [t for t in leaves if self._is_inside(t) and not isinstance(t, tf.Operation)]
            self._call_all(list(map(dependencies.origin, tensors)))
            for value, receive in program.deliveries:
                receive(nests.map_structure(self._result, value))
            return nests.map_structure(self._result, self._results)

    def _call_all(self, results: list[Any]) -> None:
        """Calls the segments, and the merges between them; `results` are tensors that leave it."""
        program = self._program
        cut = segments.cut(program, results)
        count = sum(len(segment.body) for segment in cut if segment) * program.num_replicas
        shared = count > segments.INLINED_OPS
        for segment, merge in zip(cut, program.merges + [None]):
            if segment is not None:
                batched = vectorize.batch_segment(program, segment, self._batched_values)
                if batched is not None:
                    self._call_batched(batched)
                else:
                    self._call_per_replica(segment, shared)
            if program.around is None:  # else its ops are in a segment of the program around it
                program.explanation.end_segment()
            if isinstance(merge, flows.Flow):
                values, op = merge.call(self)
                self._batched_values.update(zip(merge.op.outputs, values))
                self._last = [op]
            elif merge is not None:
                self._call_merge(merge)
                for variable in merge.updated:
                    stored_once.assume_equal(variable)

    def inside(self, part: Part, values: Sequence[Any]) -> list[Any]:
        """Calls what a branch or loop's body has on batched `values`; returns its outputs'."""
        inner = Calls(part, None)
        inner._batched_values.update(zip(part.graph.inputs, values))
        outputs = [dependencies.origin(tensor) for tensor in part.graph.outputs]
        inner._call_all(outputs)
        return [inner._batched_values[tensor] for tensor in outputs]

    def _captured(self, external: Any, placeholder: Any) -> BatchedValue:
        variable = storage.per_replica_variable(external)
        if variable is None:
            stored_once.assume_equal(stored_once.of_handle(external))
            return vectorize.Uniform(self._count, external)
        return vectorize.from_replicas(
            [copy.handle for copy in self._copies_of(variable)], placeholder
        )

    def _copies_of(self, variable: Any) -> list[Any]:
        """Each replica's copy of a variable."""
        copies = distributed.components(variable)
        return [copies[i] for i in storage.positions(variable, self._program.extended)]

    def batched(self, tensor: Tensor) -> Any:
        """The batched value of a tensor of the trace."""
        return self._batched_values[dependencies.origin(tensor)]

    def _is_inside(self, tensor: Tensor) -> bool:
        return getattr(tensor, "graph", None) is self._program.graph

    # Segments.

    def _call_batched(self, segment: BatchedSegment) -> None:
        """Calls a batched segment, once for all replicas."""
        reads = self._read_or_assign(segment.around.reads)
        inputs = [t for tensor in segment.inputs for t in self._batched_values[tensor].tensors()]
        layout_tensors = [batched.tensors() for _, batched in segment.outputs]
        if isinstance(segment.function, list):
            outputs = [inputs[position] for position in segment.function]
        else:
            with tf.control_dependencies(self._last):
                outputs = functions.call(segment.function, inputs, sum(layout_tensors, []))
            self._last = [outputs[0].op]
        for (tensor, batched), layout in zip(segment.outputs, layout_tensors):
            self._batched_values[tensor] = batched.with_tensors(outputs[: len(layout)])
            outputs = outputs[len(layout) :]
        self._last = self._last + reads
        self._last = self._last + self._read_or_assign(segment.around.assignments)

    def _read_or_assign(self, ops: Sequence[Operation]) -> list[Operation]:
        """Does reads or assignments of the replicas' own variables; returns the ops to wait for."""
        with tf.control_dependencies(self._last):
            operations = vectorize.read_or_assign(
                ops, self._program.extended.real_device, self._batched_values, self._own_functions
            )
        with tf.control_dependencies(operations):
            return [tf.no_op()] if operations else []

    def _call_per_replica(self, segment: Segment, shared: bool) -> None:
        """Calls a segment once per replica, in sequence, so that intermediate values are freed."""
        columns = []
        inputs_per_replica = [self._batched_values[t].per_replica() for t in segment.inputs]
        replica_functions = segments.replica_functions(self._program, segment, shared)
        for function, *inputs in zip(replica_functions, *inputs_per_replica):
            with tf.control_dependencies(self._last):
                columns.append(functions.call(function, inputs, segment.outputs))
            self._last = [columns[-1][0].op]
            for tensor, value in zip(segment.outputs, columns[-1]):
                if tensor in self._sums:
                    value = reductions.add(self._sums[tensor], value, tensor.op.name)
                if tensor in segment.summed:
                    self._sums[tensor] = value
        for tensor, parts in zip(segment.outputs, zip(*columns)):
            self._batched_values[tensor] = vectorize.from_replicas(parts, tensor)

    # Merges.

    def _call_merge(self, merge: Merge) -> None:
        graph, used = merge.graph, merge.used()
        graph.inputs = [placeholder for placeholder, _, _ in used]
        graph.inputs += [placeholder for _, placeholder in functions.captures(graph)]
        graph.outputs = [t for _, tensors in merge.results for t in tensors]
        graph.control_outputs = merge.must_run
        if not graph.outputs:
            with graph.as_default():
                graph.outputs = [tf.constant(0)]
        tpu_numbers.round_operands(graph)
        inputs: list[Any] = [self._source(source, replica) for _, source, replica in used]
        inputs += [self._captured_by_merge(outer) for outer, _ in functions.captures(graph)]
        with tf.control_dependencies(self._last):
            outputs = functions.call(functions.make(graph, noinline=False), inputs, graph.outputs)
        self._last = [outputs[0].op]
        for placeholder, tensors in merge.results:
            parts, outputs = outputs[: len(tensors)], outputs[len(tensors) :]
            parts = parts * (self._count // len(parts))
            self._batched_values[placeholder] = vectorize.from_replicas(parts, placeholder)

    def _captured_by_merge(self, tensor: Tensor) -> Any:
        """The value of a tensor that a merge captured: one of the trace is the first replica's."""
        if not self._is_inside(tensor) and function_graphs.is_traced(tensor):
            held = functions.captures(self._program.graph)  # of a trace around this part
            tensor = next((inner for outer, inner in held if outer is tensor), tensor)
        return self.batched(tensor).per_replica()[0] if self._is_inside(tensor) else tensor

    def waiting(self) -> Any:
        """Context manager: ops made in it wait for what was called before."""
        return tf.control_dependencies(self._last)

    def _source(self, source: Any, replica: int | str) -> Nest:
        batched = self.batched(source)
        if replica == "rows":
            return batched.rows()
        if replica != "sum":
            return batched.per_replica()[replica]
        key = dependencies.origin(source)
        if key not in self._sums:
            self._sums[key] = batched.total(source.op.name)
        return self._sums[key]

    # Results.

    def _result(self, leaf: Any) -> Nest:
        if isinstance(leaf, tf.Operation):
            with tf.control_dependencies(self._last):
                return tf.no_op()
        if distributed.is_assignment(leaf):
            return self._assigned(leaf)
        if distributed.is_variable(leaf) or not distributed.is_tensor_like(leaf):
            return leaf
        flat = distributed.flatten(leaf)
        if not any(self._is_inside(t) for t in flat):
            return leaf
        columns = [
            self.batched(t).per_replica() if self._is_inside(t) else [t] * self._count for t in flat
        ]
        return self._per_replica([distributed.pack(leaf, row) for row in zip(*columns)])

    def _assigned(self, variable: Variable) -> Nest:
        """The value at the end of each replica's component of an assigned `variable`."""
        handle = functions.captured(variable.handle)
        stored = storage.per_replica_variable(handle)
        with tf.control_dependencies(self._last):
            if stored is None:
                parts = reductions.copies(graphs.read(handle, variable.dtype), self._count)
            else:
                copies = self._copies_of(stored)
                parts = [graphs.read(copy.handle, variable.dtype) for copy in copies]
        return self._per_replica(parts)

    def _per_replica(self, parts: Any) -> Nest:
        if self._count == 1:
            return parts[0]
        return distributed.per_replica(self._program.extended, parts)
