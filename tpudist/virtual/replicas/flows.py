"""Branches and loops in which replicas meet.

Where replicas meet in the function of a branch or of a loop's body, its graph is a trace with
merges, a ``Part``, and the op that calls it is like a merge to the trace around it. In its place a
branch or loop over all replicas is built, whose body calls the part's segments and merges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.errors import ContextError
from tpudist.tfcompat import functions, graphs, versions
from tpudist.virtual import device_loop, vectorize
from tpudist.virtual.replicas import merge
from tpudist.virtual.replicas.uniformity import Uniformity
from tpudist.virtual.trace import dependencies, function_graphs

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import FunctionGraph, Operation, Tensor
    from tpudist.virtual.replicas.program import Part, Program
    from tpudist.virtual.replicas.segment_calls import Calls


def of(program: Program) -> list[Flow]:
    """The branches and loops of a trace in which replicas meet."""
    ops = program.graph.get_operations()
    if not versions.FLOWS_KEEP_THEIR_GRAPHS and any(map(_has_lost_merges, ops)):
        raise ContextError(
            "the gradient of a branch or loop in which the replicas meet",
            "TensorFlow before 2.1 copies the loop for its gradient, and the copy does not know "
            "where they meet",
            "the gradient inside of the loop, or a newer TensorFlow",
        )
    return [
        Flow(program, op, position) for position, op in enumerate(ops) if function_graphs.meets(op)
    ]


def _has_lost_merges(op: Operation) -> bool:
    """Whether `op` calls a copy of a graph that lost its merges and has only their results."""
    if op.type not in graphs.LOOPS + graphs.BRANCHES or function_graphs.meets(op):
        return False
    return any(
        inner.type == "Placeholder" and not any(inner is one.op for one in graph.inputs)
        for graph in filter(None, graphs.graphs_called_by(op))
        for inner in graph.get_operations()
    )


class Flow:
    """A branch or loop, called by `op`, in which replicas meet: like one `Merge` of the trace."""

    assigned = None
    updated: Sequence[Any] = ()
    results: Sequence[Any] = ()

    def __init__(self, program: Program, op: Operation, position: int) -> None:
        self.op, self.position = op, position
        called = graphs.graphs_called_by(op)  # in the order of the names of its attributes
        self._condition = called.pop() if op.type in graphs.LOOPS else None  # after the body
        if "If" in op.type:
            called.reverse()  # then the else branch
        self._parts = [program.part(graph) for graph in called]

    def used(self) -> list[tuple[None, Tensor, int]]:
        """The values that it takes, in the form of `Merge.used`: all inputs of each replica."""
        return [(None, tensor, 0) for tensor in dependencies.inputs_of(self.op)]

    def merges(self) -> list[merge.Merge]:
        """The merges in it."""
        return [one for part in self._parts for one in part.all_merges()]

    def captured(self) -> list[Tensor]:
        """An empty list: it captures nothing that it does not take."""
        return []

    def call(self, calls: Calls) -> tuple[list[Any], Operation]:
        """Builds it for all replicas: (its batched outputs, an op that waits for its end)."""
        inputs = [_kept(calls.batched(tensor)) for tensor in dependencies.inputs_of(self.op)]
        if self._condition is None:
            return _branches(calls, self.op, self._parts, inputs)
        return _Loop(calls, self._parts[0], self._condition, inputs).build()


def _kept(value: Any) -> Any:
    """A batched value of the same tensors, for a graph inside of the one that has them."""
    return value.with_tensors(value.tensors())


class _Loop:
    """A loop over all replicas.

    What the body hands on as it is stays outside of the loop. Of the other variables each has a
    tensor for each replica; one tensor, if it is the same on every replica in each round.
    """

    def __init__(
        self, calls: Calls, part: Part, condition: FunctionGraph, inputs: list[Any]
    ) -> None:
        self._calls, self._part, self._inputs = calls, part, inputs
        self._count = part.num_replicas
        self._variables = list(part.graph.inputs)
        self._next = [dependencies.origin(tensor) for tensor in part.graph.outputs]
        pairs = enumerate(zip(self._variables, self._next))
        self._changed = [i for i, (variable, following) in pairs if following is not variable]
        self._uniform = self._find_uniform()
        self._condition = functions.make(condition, noinline=False)
        self._condition_graph = condition

    def _find_uniform(self) -> set[int]:
        """The numbers of the variables that are the same on every replica in each round."""
        uniform = _known_uniform(self._variables, self._inputs)
        while True:
            known = Uniformity(self._part, [self._variables[i] for i in uniform])
            still = {i for i in uniform if i not in self._changed or known.holds(self._next[i])}
            if still == uniform:
                return uniform
            uniform = still

    def build(self) -> tuple[list[Any], Operation]:
        """Adds the loop to the current graph; see `Flow.call`."""
        start = self._flat(self._inputs)
        shapes = [self._variables[i].shape for i in self._changed for _ in range(self._copies(i))]
        with self._calls.waiting():
            start = [functions.with_shape(tensor, shape) for tensor, shape in zip(start, shapes)]
            goes_on = tf.identity(self._goes_on(self._values(start)))

        def step(unused_go: Tensor, *tensors: Tensor) -> list[Tensor]:
            values = self._calls.inside(self._part, self._values(tensors))
            return [self._goes_on(values)] + self._flat(values)

        results = device_loop.run_while(step, [goes_on] + start)
        return self._values(results[1:]), results[0].op

    def _copies(self, i: int) -> int:
        return 1 if i in self._uniform else self._count

    def _flat(self, values: Sequence[Any]) -> list[Tensor]:
        """The tensors that the loop carries, of the batched value of each variable."""
        return [t for i in self._changed for t in values[i].per_replica()[: self._copies(i)]]

    def _values(self, tensors: Sequence[Tensor]) -> list[Any]:
        """The batched value of each variable, of the tensors that the loop carries."""
        values, rest = [_kept(value) for value in self._inputs], list(tensors)
        for i in self._changed:
            own, rest = rest[: self._copies(i)], rest[self._copies(i) :]
            parts = own * (self._count // len(own))
            values[i] = vectorize.from_replicas(parts, self._variables[i])
        return values

    def _goes_on(self, values: Sequence[Any]) -> Tensor:
        """Whether there is another round."""
        rows = [list(row) for row in zip(*[value.per_replica() for value in values])]
        used = [i for i, each in enumerate(self._condition_graph.inputs) if each.consumers()]
        ops = self._condition_graph.get_operations()
        if self._uniform.issuperset(used) and all(map(graphs.only_reads, ops)):
            rows = rows[:1]
        outputs = self._condition_graph.outputs
        return agreed([functions.call(self._condition, row, outputs)[0] for row in rows])


def _branches(
    calls: Calls, op: Operation, parts: list[Part], inputs: list[Any]
) -> tuple[list[Any], Operation]:
    """Builds the branches of an If or Case op; see `Flow.call`."""
    choice = inputs[0]
    is_one = isinstance(choice, vectorize.Uniform)
    with calls.waiting():
        chosen = tf.identity(agreed(choice.per_replica()[: 1 if is_one else None]))
    uniform = _uniform_outputs(parts, inputs[1:])

    def branch(part: Part) -> Any:
        def step() -> list[Tensor]:
            values = calls.inside(part, [_kept(value) for value in inputs[1:]])
            rows = [value.per_replica() for value in values]
            tensors = [row[:1] if i in uniform else row for i, row in enumerate(rows)]
            return [tensor for row in tensors for tensor in row] + [tf.constant(0)]

        return lambda: device_loop.run_once(step)[0]

    if "Case" in op.type:
        results = list(tf.switch_case(chosen, [branch(part) for part in parts]))
    else:
        results = list(tf.cond(chosen, *[branch(part) for part in parts]))
    end, values = results.pop().op, []
    for i, tensor in enumerate(op.outputs):
        count = 1 if i in uniform else parts[0].num_replicas
        own, results = results[:count], results[count:]
        for each in own:
            functions.make_like(each, tensor)
        values.append(vectorize.from_replicas(own * (parts[0].num_replicas // count), tensor))
    return values, end


def _uniform_outputs(parts: Sequence[Part], inputs: Sequence[Any]) -> set[int]:
    """The numbers of the outputs of branches that are the same on every replica."""
    uniform = set(range(len(parts[0].graph.outputs)))
    for part in parts:
        one = _known_uniform(part.graph.inputs, inputs)
        known = Uniformity(part, [part.graph.inputs[i] for i in one])
        uniform = {i for i in uniform if known.holds(dependencies.origin(part.graph.outputs[i]))}
    return uniform


def _known_uniform(tensors: Sequence[Tensor], values: Sequence[Any]) -> set[int]:
    """The numbers of those inputs, with batched values, that are the same on every replica."""
    return {
        i
        for i, (tensor, value) in enumerate(zip(tensors, values))
        if isinstance(value, vectorize.Uniform) and tensor.dtype not in (tf.resource, tf.variant)
    }


def agreed(parts: Sequence[Tensor]) -> Tensor:
    """The one value that all replicas have; when it runs, it is an error if they differ."""
    if len(parts) == 1:
        return parts[0]
    message = (
        "the condition of a branch or loop differs among the replicas. They meet in it, so that "
        "all have to take it alike. Instead: a condition that is the same on all replicas, such "
        "as one on a counter or on an all_reduce"
    )
    same = tf.reduce_all([tf.equal(parts[0], part) for part in parts])
    with tf.control_dependencies([tf.debugging.Assert(same, [message])]):
        checked: Tensor = tf.identity(parts[0])
    return checked
