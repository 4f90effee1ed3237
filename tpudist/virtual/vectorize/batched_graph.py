"""Builds the graph of a segment for all replicas, op by op."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import functions, graphs, random_seeds
from tpudist.virtual import explanations
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import effects, ordering, segments
from tpudist.virtual.vectorize import (
    batched_values,
    called_functions,
    control_flow,
    divergent_values,
    failed_rules,
    optionals,
    ragged_values,
    rules,
    stacked_variables,
    static_values,
    symbolic_shapes,
    unequal_rounds,
)

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Graph, Operation, Tensor
    from tpudist.virtual.annotations import BatchedValue, Program, Sizes


#: {a batched value of another kind than tensors: the ops that take it}
_TAKEN = {
    batched_values.Lists: rules.LISTS + rules.PASSES,
    optionals.ByBranch: rules.PASSES,
    optionals.Optionals: rules.PACKED + rules.PASSES,
    unequal_rounds.Lists: rules.PASSES,
}

_SHAPES = ("Rank", "Shape", "ShapeN", "Size")


class BatchedGraph:
    """Ops for all replicas, in place of the ops of a trace.

    Args:
      program: the traced `Program`.
      graph: the `PlacedGraph` that they are added to, which is the current graph.
      summed: the tensors of which only the sum over the replicas is needed.
      record: the `explanations.Record` of how each op is done.
      counted: which replicas count in sums over them, a bool tensor; None if all do.

    Attributes:
      count: number of replicas.
      place: the device of the ops.
    """

    def __init__(
        self, program: Program, graph: Graph, summed: Any, record: Any, counted: Any = None
    ) -> None:
        self._program = program
        self._counted = counted
        self.record = record
        self._graph = graph
        self.count = program.num_replicas
        self.place = graph.place
        self._summed = summed
        self._batched = IdentityMap()
        self._made: dict[Any, Any] = {}
        self._variants: dict[Any, Any] = {}
        self._alike: dict[Any, Any] = {}

    def take(self, tensor: Tensor, outline: Any) -> Any:
        """Makes placeholders for `tensor`, held as `outline` is; returns them."""
        self._batched[tensor] = outline.held(tensor)
        return self._batched[tensor].tensors()

    def inside(self, summed: Any, graph: Graph | None = None, counted: Any = None) -> Any:
        """A `BatchedGraph` for a function that is called in this one, or in `graph`."""
        record = explanations.Record()
        return BatchedGraph(self._program, graph or self._graph, summed, record, counted)

    def add_function(self, function: Any, given: Any) -> None:
        """Adds the ops of a `called_functions.Function`, whose inputs are held as `given` are."""
        self._batched.update(zip(function.inputs, given))
        self.add(function.body, set())

    def held(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The batched value of each of `tensors`, of the trace."""
        return [self._batched[tensor] for tensor in tensors]

    def copies(self, op: Operation) -> Any:
        """The ops that were made of `op`, for others to wait for."""
        return self._made[op]

    def leaving(self, tensor: Tensor, each: Any) -> BatchedValue:
        """The batched value of `tensor` as it leaves the graph; `each` are not wanted as sums."""
        batched = self._batched[tensor]
        if isinstance(batched, batched_values.Batch) and tensor not in each:
            return batched_values.ReplicaSum(batched.total(tensor.op.name))
        return batched.like(batched.tensors())

    def add(self, body: Sequence[Operation], serialized: set[Operation]) -> None:
        """Adds the ops of `body`, each after those that it needs.

        Args:
          body: ops of the trace.
          serialized: those of them that each replica does before the next one does them.
        """
        later = set()
        for op in body:
            if op in serialized or any(before in later for before in ordering.needs(op)):
                later.add(op)
            else:
                self._add(op)
        self._add_serialized([op for op in body if op in serialized])
        for op in body:
            if op in later and op not in serialized:
                self._add(op)

    def _add(self, op: Operation) -> None:
        before = self._before(op)
        with tf.control_dependencies(before) if before else contextlib.nullcontext():
            found = self._found(op)
        self._batched.update(zip(op.outputs, found))
        self._made.setdefault(op, [each for held in found for each in batched_values.ops(held)])

    def _before(self, op: Operation) -> list[Any]:
        controls = [control for control in segments.controls_of(op) if control in self._made]
        return [made for control in controls for made in self._gathered(control)]

    def _gathered(self, op: Operation) -> Any:
        """What waits for `op`, an op of the trace, waits for these ops.

        If there are many copies of `op`, it is one op that waits for them: control edges from
        each copy to each copy of another op would be the square of the replicas.
        """
        if len(self._made[op]) > 2:
            with tf.control_dependencies(self._made[op]):
                self._made[op] = [tf.no_op()]
        return self._made[op]

    def _found(self, op: Operation) -> Any:
        """The batched values of the outputs of `op`."""
        given = [self._batched[tensor] for tensor in segments.inputs_of(op)]
        found, reason = self._at_once(op, given)
        self.record.note(op, reason if found is None else None)
        return self._for_each(op, given) if found is None else found

    def _at_once(self, op: Operation, given: Any) -> tuple[Any, ...]:
        """(batched values of the outputs of `op`, None), or (None, why it is not done at once)."""
        if any(isinstance(batched, stacked_variables.Handles) for batched in given):
            return self._on_rows(op, given), None
        if op.type in _SHAPES:
            found = _shapes(op, given, self.count)
            if found:
                return found, None
        uniform = all(isinstance(batched, batched_values.Uniform) for batched in given)
        if uniform and (not functions.is_stateful(op) or graphs.only_reads(op)):
            return self._once(op, given), None
        if functions.is_stateful(op) and not graphs.only_reads(op):
            return None, _effect(op, given)
        try:
            found = failed_rules.checked(op, self._batched_outputs(op, given))
            return found, None if found else _reason(op, given)
        except batched_values.NotBatchable as error:
            return None, str(error)
        except stacked_variables.NeedsHandles:
            raise
        except Exception as error:  # pylint: disable=broad-except
            return None, failed_rules.reason(error)

    def _on_rows(self, op: Operation, given: Any) -> Any:
        """The batched values of the outputs of `op`, which takes handles of rows."""
        if op.type in called_functions.CALLS and graphs.only_reads(op):
            try:
                return self._batched_outputs(op, given)
            except batched_values.NotBatchable as error:
                raise stacked_variables.NeedsHandles from error
        found, self._made[op] = stacked_variables.do(op, given)
        return found

    def _batched_outputs(self, op: Operation, given: Any) -> Any:
        if op.type in called_functions.LOOPS + called_functions.BRANCHES + called_functions.CALLS:
            wanted = [output in self._summed for output in op.outputs]
            return control_flow.batch(self, op, given, wanted)
        return self._by_rule(op, given)

    def _by_rule(self, op: Operation, given: Any) -> Any:
        if self._counted is not None and op.outputs[0] in self._summed:
            given = self._those_counted(op, given)
        uneven = any(isinstance(batched, rules.UNEVEN) for batched in given)
        if uneven or op.type in rules.SELECTING:
            node = rules.Node(op, given, self.count, op.outputs[0] in self._summed)
            found = rules.of_unknown_sizes(node)
            if found is not None:
                return found
        if op.type not in rules.RULES or any(
            isinstance(batched, (batched_values.PerReplicaTensors, ragged_values.Ragged))
            or op.type not in _TAKEN.get(type(batched), (op.type,))
            for batched in given
        ):
            return None
        node = rules.Node(op, given, self.count, op.outputs[0] in self._summed)
        if not (node.is_known() and node.has_room()):
            return None
        return rules.RULES[op.type](node)

    def _those_counted(self, op: Operation, given: Any) -> Any:
        """The inputs of `op`, zeroed for the replicas that do not count in the sum."""
        totals = any(isinstance(batched, batched_values.ReplicaSum) for batched in given)
        if not totals and op.type in rules.TOTAL | rules.LINEAR:
            return given  # the sum is taken later
        return [
            divergent_values.counted(self._counted, batched)
            if totals or isinstance(batched, batched_values.Batch)
            else batched
            for batched in given
        ]

    def _once(self, op: Operation, given: Any) -> list[Any]:
        folded = None if functions.is_stateful(op) else static_values.known(op, given)
        if folded is not None:
            return [
                batched_values.Constant(self.count, v, t.dtype) for v, t in zip(folded, op.outputs)
            ]
        made = functions.copy_op(op, [batched.value for batched in given])
        self._made[op] = [made]
        return [batched_values.Uniform(self.count, tensor) for tensor in made.outputs]

    def _for_each(self, op: Operation, given: Any) -> Any:
        """One op per replica; stateful ones run one after the other."""
        made: list[Any] = []
        for replica, inputs in enumerate(zip(*[batched.each() for batched in given])):
            made.append(self._copy(op, inputs, replica, made[-1:]))
        if not given:
            for replica in range(self.count):
                made.append(self._copy(op, [], replica, made[-1:]))
        self._made[op] = made
        return self._columns(op, made, symbolic_shapes.of_output(op, given))

    def _copy(self, op: Operation, inputs: Any, replica: int, before: Any) -> Any:
        """The op of one replica: a random op has a state of its own."""
        with tf.control_dependencies(before if _waits(op) else []):
            return functions.copy_op(op, inputs, self._changed(op, replica))

    def _changed(self, op: Operation, replica: int) -> Any:
        """The attributes in which the op of `replica` differs from `op`."""
        if op in self._program.numbers:
            return random_seeds.attribute(self._program.numbers[op][replica])
        if op not in self._alike:  # once for all replicas: it reads the functions that are called
            kept_apart = called_functions.kept_apart(op, self.count, self.place)
            self._alike[op] = None if random_seeds.draws(op) else kept_apart or {}
        if self._alike[op] is not None:
            return self._alike[op]
        if replica not in self._variants:
            self._variants[replica] = random_seeds.Variants(
                self._program.graph, self._graph, replica
            )
        node, before = op.node_def, op.node_def.attr
        self._variants[replica].call(node)
        return {name: value for name, value in node.attr.items() if value != before[name]}

    def _columns(self, op: Operation, made: Any, sizes: Sizes | None = None) -> Any:
        """The batched values of the outputs of `op` when `made` are its copies."""
        columns = zip(*[copy.outputs for copy in made])
        return [
            batched_values.of_parts(list(column), tensor, sizes)
            for column, tensor in zip(columns, op.outputs)
        ]

    # What replicas do one after the other.

    def _add_serialized(self, ops: Sequence[Operation]) -> None:
        made: dict[Operation, list[Operation]] = {op: [] for op in ops}
        last: list[Any] = []
        for replica in range(self.count):
            values = IdentityMap()
            for op in ops:
                copy = self._copy_serialized(op, replica, values, made, last)
                made[op].append(copy)
                values.update(zip(op.outputs, copy.outputs))
                last = [copy] if _touches(op) else last
        for op in ops:
            self.record.note(op, "between effects that replicas share")
            self._made[op] = made[op]
            self._batched.update(zip(op.outputs, self._columns(op, made[op])))

    def _copy_serialized(
        self, op: Operation, replica: int, values: Any, made: Any, last: Any
    ) -> Any:
        inputs = [
            values[tensor] if tensor in values else self._batched[tensor].each()[replica]
            for tensor in segments.inputs_of(op)
        ]
        own = [made[c][replica] for c in segments.controls_of(op) if c in made]
        with tf.control_dependencies(own + self._before(op) + (last if _touches(op) else [])):
            return self._copy(op, inputs, replica, [])


def _waits(op: Operation) -> Any:
    return (
        functions.is_stateful(op) and not graphs.only_reads(op) and not random_seeds.is_random(op)
    )


def _effect(op: Operation, given: Any) -> str:
    """Why an op with an effect is not batched."""
    if random_seeds.is_random(op):
        return "each replica draws its own numbers"
    if random_seeds.draws(op):
        return "each replica draws its own numbers in it"
    if op.type in effects.CHECKS:
        return "each replica is checked"
    if any(isinstance(batched, batched_values.PerReplicaTensors) for batched in given):
        return "each replica has its own variable"
    return "it has an effect"


def _reason(op: Operation, given: Any) -> str:
    """Why an op without an effect is not batched."""
    if any(isinstance(batched, batched_values.PerReplicaTensors) for batched in given):
        if any(functions.is_resource(tensor) for tensor in op.inputs):
            return "each replica has its own variable"
        return "its input is held per replica"
    if any(isinstance(batched, ragged_values.Ragged) for batched in given):
        return "replicas may have different numbers of rows"
    if op.type not in rules.RULES:
        return "no batching rule"
    node = rules.Node(op, given, 1, False)
    if not node.is_known():
        return "a shape is known only when it runs"
    return "the batching rule does not cover these shapes or attributes"


def _touches(op: Operation) -> Any:
    return functions.is_stateful(op) or any(map(functions.is_resource, op.inputs))


def _shapes(op: Operation, given: Any, count: int) -> list[Any] | None:
    """The outputs of an op that asks for shapes; None if a shape is unknown while tracing."""
    shapes = [batched.static_shape(tensor) for batched, tensor in zip(given, op.inputs)]
    if not all(shape.is_fully_defined() for shape in shapes):
        return None
    ask: Any = {"Rank": len, "Size": np.prod}.get(op.type, list)
    return [
        batched_values.Constant(count, ask(shape.as_list()), tensor.dtype)
        for shape, tensor in zip(shapes, op.outputs)
    ]
