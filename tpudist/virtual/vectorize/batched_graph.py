"""Batches the ops of a trace, one after the other, into a graph."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Iterable, Sequence

import numpy as np
import tensorflow as tf

from tpudist import machine
from tpudist.tfcompat import functions, graphs, random_seeds
from tpudist.virtual import explanations
from tpudist.virtual.trace import dependencies
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.vectorize import called_functions, flow, loops, masked_loops, rules
from tpudist.virtual.vectorize.values import batched_values, known_shapes, layouts, ragged_values

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor
    from tpudist.tfcompat.placed_graphs import PlacedGraph
    from tpudist.virtual.replicas.program import Program
    from tpudist.virtual.trace.segments import Tensors
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue
    from tpudist.virtual.vectorize.values.ragged_values import Sizes

    Inputs = Sequence[BatchedValue]
    Outputs = Sequence[BatchedValue]


#: {class of batched values of lists and optionals: the ops with a rule for it}
_ALLOWED_OPS = {
    layouts.PaddedList: rules.IDENTITIES,
    layouts.StackedList: rules.LIST_OPS + rules.IDENTITIES,
    layouts.Optionals: rules.OPTIONAL_OPS + rules.IDENTITIES,
}

_SHAPES = ("Rank", "Shape", "ShapeN", "Size")


class WrongShape(Exception):
    """A batching rule returned a tensor that has not the shape of all replicas' values."""


class BatchedGraph:
    """Adds the batched form of each op of a trace to `graph`, a `PlacedGraph`, the current one.

    Of tensors `sums_only` the sum over the replicas is needed; `record` notes how ops are done.
    `active`, a bool tensor ``[N]``, says which are still in a loop that replicas leave one by one.
    """

    def __init__(self, program: Program, graph: PlacedGraph, sums_only: Any, record: Any) -> None:
        self._program = program
        self.record = record
        self._graph = graph
        self.count = program.num_replicas
        self.place = graph.place
        self.active: Tensor | None = None
        self._sums_only = sums_only
        self.batched: IdentityMap[Tensor, BatchedValue] = IdentityMap()
        self.ops: dict[Operation, list[Operation]] = {}
        self._variants: dict[Any, Any] = {}
        self._shared_attributes: dict[Operation, dict[str, Any] | None] = {}

    def nested(self, sums_only: Tensors, graph: PlacedGraph | None = None) -> BatchedGraph:
        """A `BatchedGraph` for a called function; its ops go to `graph`, by default this one's."""
        record = explanations.Record()
        inner = BatchedGraph(self._program, graph or self._graph, sums_only, record)
        inner.active = None if graph else self.active
        return inner

    def add_function(
        self, function: called_functions.Function, inputs: Iterable[BatchedValue]
    ) -> None:
        """Adds the ops of a `called_functions.Function`, called on the batched `inputs`."""
        self.batched.update(zip(function.inputs, inputs))
        self.add(function.body, set())

    def values_of(self, tensors: Sequence[Tensor]) -> list[BatchedValue]:
        """The batched values of `tensors` of the trace."""
        return [self.batched[tensor] for tensor in tensors]

    def output_value(self, tensor: Tensor, not_summed: Tensors) -> BatchedValue:
        """The batched output for `tensor`: a sum over the replicas, if not in `not_summed`."""
        batched = self.batched[tensor]
        if isinstance(batched, batched_values.Batch) and tensor not in not_summed:
            return batched_values.ReplicaSum(batched.total(tensor.op.name))
        return batched.with_tensors(batched.tensors())

    def add(self, body: Sequence[Operation], serialized: set[Operation]) -> None:
        """Adds each op of `body`, batched; the replicas do those in `serialized` in turn."""
        later = set()
        for op in body:
            if op in serialized or any(before in later for before in dependencies.needs(op)):
                later.add(op)
            else:
                self._add(op)
        self._add_serialized([op for op in body if op in serialized])
        for op in body:
            if op in later and op not in serialized:
                self._add(op)

    def _add(self, op: Operation) -> None:
        before = self._control_inputs(op)
        with tf.control_dependencies(before) if before else contextlib.nullcontext():
            inputs = [self.batched[tensor] for tensor in dependencies.inputs_of(op)]
            outputs, reason = self._vectorized(op, inputs)
            self.record.note(op, reason if outputs is None else None)
            if outputs is None:
                outputs = self._once_per_replica(op, inputs)
        self.batched.update(zip(op.outputs, outputs))
        self.ops.setdefault(op, [tensor.op for value in outputs for tensor in value.sources()])

    def _control_inputs(self, op: Operation) -> list[Operation]:
        found: list[Operation] = []
        for control in dependencies.controls_of(op):
            if len(self.ops.get(control, ())) > 2:  # many: one op waits for them all
                with tf.control_dependencies(self.ops[control]):
                    self.ops[control] = [tf.no_op()]
            found += self.ops.get(control, [])
        return found

    def _vectorized(self, op: Operation, inputs: Inputs) -> tuple[Outputs | None, str | None]:
        """(batched outputs of `op`, None), or (None, the reason why it cannot be batched)."""
        if op.type in _SHAPES:
            shapes = [batched.static_shape(tensor) for batched, tensor in zip(inputs, op.inputs)]
            measure: Any = {"Rank": len, "Size": np.prod}.get(op.type, list)
            if all(shape.is_fully_defined() for shape in shapes):
                numbers = [measure(shape.as_list()) for shape in shapes]
                return self._constants(op, numbers), None
        uniform = all(isinstance(batched, batched_values.Uniform) for batched in inputs)
        if uniform and (not functions.is_stateful(op) or graphs.only_reads(op)):
            return self._uniform(op, inputs), None
        if functions.is_stateful(op) and not graphs.only_reads(op):
            return None, _effect_reason(op, inputs)
        try:
            outputs = _checked(op, self._batched_outputs(op, inputs))
            return outputs, None if outputs else _rule_reason(op, inputs)
        except batched_values.NotBatchable as error:
            return None, str(error)
        except Exception as error:  # noqa: BLE001
            return None, failure_reason(error)

    def _batched_outputs(self, op: Operation, inputs: Inputs) -> Outputs | None:
        output_sums = [output in self._sums_only for output in op.outputs]
        if self.active is not None and op.type not in called_functions.CALLS:
            inputs = masked_loops.harmless(self.active, op, inputs, any(output_sums))
            if any(output_sums) and op.type in graphs.LOOPS + graphs.BRANCHES:
                raise batched_values.NotBatchable(masked_loops.REASON)
        if op.type in called_functions.CALLS:
            function = called_functions.function(op)
            if function is None:
                raise batched_values.NotBatchable(flow.NOT_KNOWN)
            inner = self.nested(called_functions.summed_in(function, output_sums))
            inner.add_function(function, inputs)
            self.record.add(inner.record)
            return inner.values_of(function.outputs)
        if op.type in graphs.LOOPS:
            return loops.loop(self, op, inputs, output_sums)
        if op.type in graphs.BRANCHES:
            return flow.branches(self, op, inputs, output_sums)
        return self._by_rule(op, inputs)

    def _by_rule(self, op: Operation, inputs: Inputs) -> Outputs | None:
        if any(isinstance(batched, rules.RAGGED_KINDS) for batched in inputs):
            node = rules.Node(op, inputs, self.count, op.outputs[0] in self._sums_only)
            outputs = rules.apply_ragged_rule(node)
            if outputs is not None:
                return outputs
        if op.type not in rules.RULES or any(
            isinstance(batched, (batched_values.PerReplicaTensors, ragged_values.Ragged))
            or op.type not in _ALLOWED_OPS.get(type(batched), (op.type,))
            for batched in inputs
        ):
            return None
        node = rules.Node(op, inputs, self.count, op.outputs[0] in self._sums_only)
        if not (node.is_known() and node.has_room()):
            return None
        return rules.RULES[op.type](node)

    def _uniform(self, op: Operation, inputs: Inputs) -> Outputs:
        """The outputs of `op`, done once, as all its inputs are uniform."""
        is_stateful = functions.is_stateful(op)
        constants = None if is_stateful else known_shapes.constant_outputs(op, inputs)
        if constants is not None:
            return self._constants(op, constants)
        copy = functions.copy_op(op, [batched.value for batched in inputs])
        self.ops[op] = [copy]
        return [batched_values.Uniform(self.count, output) for output in copy.outputs]

    def _constants(self, op: Operation, numbers: Sequence[Any]) -> Outputs:
        pairs = zip(numbers, op.outputs)
        return [batched_values.Constant(self.count, each, t.dtype) for each, t in pairs]

    def _once_per_replica(self, op: Operation, values: Inputs) -> Outputs:
        """The outputs of one copy of `op` per replica; stateful copies run one after the other."""
        copies: list[Operation] = []
        columns = [batched.per_replica() for batched in values]
        for replica in range(self.count):
            inputs = [column[replica] for column in columns]
            copies.append(self._copy(op, inputs, replica, copies[-1:]))
        self.ops[op] = copies
        return self._outputs_of_copies(op, copies, known_shapes.output_sizes(op, values))

    def _copy(
        self, op: Operation, inputs: Sequence[Tensor], replica: int, after: list[Operation]
    ) -> Operation:
        """The copy of `op` for one replica; a random op gets that replica's seed."""
        in_order = functions.is_stateful(op) and not graphs.only_reads(op)
        with tf.control_dependencies(after if in_order and not random_seeds.is_random(op) else []):
            return functions.copy_op(op, inputs, self._replica_attributes(op, replica))

    def _replica_attributes(self, op: Operation, replica: int) -> dict[str, Any]:
        """The attributes in which the copy of `op` for `replica` differs from `op`."""
        if op in self._program.numbers:
            return random_seeds.attribute(self._program.numbers[op][replica])
        # Computed for the first replica only, as it reads all functions that `op` calls.
        if op not in self._shared_attributes:
            if_not_inlined = called_functions.not_inlined_attributes(op, self.count, self.place)
            self._shared_attributes[op] = None if random_seeds.draws(op) else if_not_inlined or {}
        shared = self._shared_attributes[op]
        if shared is not None:
            return shared
        if replica not in self._variants:
            self._variants[replica] = random_seeds.Variants(
                self._program.graph, self._graph, self._program.replica_ids[replica]
            )
        node, attributes = op.node_def, op.node_def.attr
        self._variants[replica].call(node)
        return {name: value for name, value in node.attr.items() if value != attributes[name]}

    def _outputs_of_copies(
        self, op: Operation, copies: list[Operation], sizes: Sizes | None = None
    ) -> Outputs:
        """The batched outputs of `op`, from those of its `copies`, one per replica."""
        outputs: list[Any] = []
        for i, tensor in enumerate(op.outputs):
            parts = [copy.outputs[i] for copy in copies]
            outputs.append(layouts.from_replicas(parts, tensor, sizes))
            # What is unstacked has equal shapes.
            sizes = getattr(outputs[0], "sizes", None) if op.type == "Unpack" else None
        return outputs

    # Serialized ops: all of one replica, then all of the next.

    def _add_serialized(self, ops: Sequence[Operation]) -> None:
        copies: dict[Operation, list[Operation]] = {op: [] for op in ops}
        last: list[Operation] = []
        for replica in range(self.count):
            values: IdentityMap[Tensor, Tensor] = IdentityMap()
            for op in ops:
                inputs = [
                    values[t] if t in values else self.batched[t].per_replica()[replica]
                    for t in dependencies.inputs_of(op)
                ]
                before = self._control_inputs(op) + (last if _touches(op) else [])
                for control in dependencies.controls_of(op):
                    before += copies[control][replica : replica + 1] if control in copies else []
                with tf.control_dependencies(before):
                    copy = self._copy(op, inputs, replica, [])
                copies[op].append(copy)
                values.update(zip(op.outputs, copy.outputs))
                last = [copy] if _touches(op) else last
        for op in ops:
            self.record.note(op, "between effects that replicas share")
            self.ops[op] = copies[op]
            self.batched.update(zip(op.outputs, self._outputs_of_copies(op, copies[op])))


def _effect_reason(op: Operation, inputs: Inputs) -> str:
    """The reason, for the explanation, why an op with an effect is not batched."""
    if random_seeds.is_random(op):
        return "each replica draws its own numbers"
    if random_seeds.draws(op):
        return "each replica draws its own numbers in it"
    if op.type in dependencies.CHECKS:
        return "each replica is checked"
    if any(isinstance(batched, batched_values.PerReplicaTensors) for batched in inputs):
        return "each replica has its own variable"
    return "it has an effect"


def _rule_reason(op: Operation, inputs: Inputs) -> str:
    """The reason, for the explanation, why an op without an effect is not batched."""
    if any(isinstance(batched, batched_values.PerReplicaTensors) for batched in inputs):
        if any(functions.is_resource(tensor) for tensor in op.inputs):
            return "each replica has its own variable"
        return "its input is held per replica"
    if any(isinstance(batched, ragged_values.Ragged) for batched in inputs):
        return "replicas may have different numbers of rows"
    if op.type not in rules.RULES:
        return "no batching rule"
    node = rules.Node(op, inputs, 1, False)
    if not node.is_known():
        return "a shape is known only when it runs"
    return "the batching rule does not cover these shapes or attributes"


def failure_reason(error: Any) -> str:
    """The reason, for the explanation, that a batching rule raised `error`; a test raises it."""
    if os.environ.get(machine.STRICT_BATCHING) == "1":
        raise error
    first_line = (str(error).splitlines() or [""])[0]
    return "its batching rule failed with %s: %s" % (type(error).__name__, first_line)


def _checked(op: Operation, outputs: Outputs | None) -> Outputs | None:
    """Returns `outputs`, the batched outputs of `op`, after a check of their shapes."""
    for value in outputs or ():
        if type(value) is batched_values.Batch and not value.has_expected_shape():
            made = getattr(value.existing_tensor(), "shape", None)
            raise WrongShape(
                "%s gives %s for %d replicas of %s" % (op.type, made, value.count, value.shape)
            )
    return outputs


def _touches(op: Operation) -> bool:
    """Whether `op` may have an effect, or depend on one."""
    return functions.is_stateful(op) or any(map(functions.is_resource, op.inputs))
