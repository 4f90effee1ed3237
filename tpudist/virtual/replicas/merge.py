"""Traces a merge function: the cross-replica code of one ``merge_call`` of a trace."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
import tensorflow as tf

from tpudist.errors import ContextError
from tpudist.tfcompat import distributed, functions, nests
from tpudist.virtual import reductions
from tpudist.virtual.replicas import uniformity
from tpudist.virtual.trace import function_graphs
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.variables import stored_once

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import (
        Args,
        Fn,
        FunctionGraph,
        Graph,
        Kwargs,
        Nest,
        Operation,
        Tensor,
        Variable,
    )
    from tpudist.virtual.replicas.program import Program


#: The module of ``tf.metrics``, which computes with the one tensor that a merge before has given.
_METRICS = "metrics_impl"


def keeps_merged(merge_fn: Fn) -> bool:
    """Whether a merge gets the one tensor of a merge before as it is, not as N values."""
    return getattr(merge_fn, "__module__", "").endswith(_METRICS)


class Merge(function_graphs.Trace):
    """The merge function of one ``merge_call``, traced into its own graph.

    Attributes:
      program: the `Program` whose replicas meet here.
      position: number of ops in the replica trace when the merge happened.
      inputs: [(placeholder in `graph`, tensor of the replica trace, replica id)]; replica id "sum"
        is the sum over replicas, "rows" are all replicas' values along the first axis.
      results: [(placeholder in the replica trace, [tensor of `graph` per replica, or one])].
      updated: the variables that are updated once for all replicas.
      used_as_one: the variables that it uses while they are stored once.
      assigned: the variable whose assignment is the only reason for the merge, or None.
    """

    regroups = False
    is_meeting = True

    #: The op of the trace that stands for it; see `flows.Flow`.
    op = None

    def __init__(self, program: Program) -> None:
        super().__init__("merge_function", program.outer)
        # TensorFlow numbers a sum over hosts whenever the function around this graph is called.
        self.graph.is_control_flow_graph = True
        self.program = program
        self._strategy = program.extended._container_strategy()
        self.position: int | None = None
        self.inputs: list[Any] = []
        self.results: list[Any] = []
        self.updated: list[Any] = []
        self.used_as_one: list[Any] = []
        self.assigned = None
        self._start = None
        self._op_results: list[Any] = []
        self._sums: IdentityMap[Any, Any] = IdentityMap()
        self._sources: IdentityMap[Any, Any] = IdentityMap()

    def run(self, merge_fn: Fn, args: Args, kwargs: Kwargs) -> Nest:
        """Traces `merge_fn`; returns its result as the replica sees it."""
        if self.program.extended.runs_as_session:
            self._start = tf.no_op()
        with self.ordered(), self.program.extended.place(), distributed.cross_replica(
            self._strategy
        ):
            keeps = keeps_merged(merge_fn)
            args, kwargs = nests.map_structure(
                lambda leaf: self._enter_leaf(leaf, keeps), (args, kwargs)
            )
            self.position = len(self.program.graph.get_operations())
            result = merge_fn(self._strategy, *args, **kwargs)
        captured = [outer for outer, _ in functions.captures(self.graph)]
        part: Any = self.program
        if part.around is not None:
            part.bring_in(captured)
        variables = [stored_once.of_handle(functions.captured(outer)) for outer in captured]
        self.used_as_one = [v for v in variables if v is not None and stored_once.is_stored_once(v)]
        return self.hand_back(result)

    # Values that enter the merge.

    def _enter_leaf(self, leaf: Any, keeps_merged: bool) -> Nest:
        if isinstance(leaf, tf.Variable) or not distributed.is_tensor_like(leaf):
            return leaf
        if keeps_merged:
            results = [pair for one in self.program.merges for pair in one.results]
            if any(result is leaf and len(tensors) == 1 for result, tensors in results):
                return self._input(leaf, 0)
        with self.program.graph.as_default():
            leaf = reductions.of_tensors(leaf)
        inside = self._inside(leaf)
        flat = distributed.flatten(inside)
        is_uniform = self.program.uniformity.holds(inside)

        def make(replica_id: int) -> Nest:
            with self.graph.as_default():
                part = distributed.pack(inside, [self._input(t, replica_id) for t in flat])
            if not replica_id:  # TensorFlow 2.4 puts the parts into another value
                self._sources[distributed.flatten(part)[0]] = inside
            return part

        count = self.program.num_replicas
        parts = reductions.Parts(count, make, is_uniform)
        value = reductions.per_replica(self.program.extended, parts)
        self._sources[_key(value)] = inside
        return value

    def _inside(self, leaf: object) -> Nest:
        """`leaf` as tensors of the replica trace; what replicas captured is each one's own."""
        flat = distributed.flatten(leaf)
        if all(map(self._is_inside, flat)):
            return leaf
        with self.program.graph.as_default():
            own = [tensor if self._is_inside(tensor) else tf.identity(tensor) for tensor in flat]
            return distributed.pack(leaf, own)

    def _is_inside(self, tensor: Tensor) -> bool:
        return getattr(tensor, "graph", None) is self.program.graph

    def _input(self, tensor: Tensor, replica_id: int | str) -> Tensor:
        with tf.control_dependencies(None), contextlib.ExitStack() as stack:
            if replica_id == "sum":
                stack.enter_context(function_graphs.named("AllReduce"))
            shape = None
            if replica_id == "rows" and tensor.shape.dims:
                size, *others = tensor.shape.as_list()
                shape = [size and size * self.program.num_replicas] + others
            placeholder = functions.placeholder_like(tensor, shape)
        self.inputs.append((placeholder, tensor, replica_id))
        return placeholder

    def reduced(self, reduce_op: object, value: object) -> Nest:
        """`value` reduced outside of the merge; None if it is not a tensor that entered it.

        Outside, each replica's value is added as the replica finishes. The sum of slices of a table
        are all replicas' slices, which are one tensor where replicas are batched.
        """
        source: Any = self.source_of(value)
        if isinstance(source, distributed.IndexedSlices):
            rows = [self._input(tensor, "rows") for tensor in (source.values, source.indices)]
            with function_graphs.named("AllReduce"):
                rows = [tf.identity(tensor) for tensor in rows]
            shape = source.dense_shape
            shape = None if shape is None else self._input(shape, 0)
            total = distributed.IndexedSlices(*rows, shape)
        elif not isinstance(source, tf.Tensor) or not self._is_inside(source):
            return None
        else:
            if source not in self._sums:
                self._sums[source] = self._input(source, "sum")
            total = self._sums[source]
        if reduce_op == tf.distribute.ReduceOp.MEAN:
            return distributed.divide(total, self.program.num_replicas)
        return total

    def source_of(self, value: object) -> Nest:
        """The tensors of the replica trace that entered the merge as `value`, or None."""
        return self._sources.get(_key(value))

    def merges(self) -> list[Merge]:
        """The merge, as of a `flows.Flow` all those in it."""
        return [self]

    def used(self) -> list[Any]:
        """The `inputs` that are used, once the merge is traced."""
        returned = IdentityMap.of(t for _, tensors in self.results for t in tensors)
        return [
            (placeholder, source, replica)
            for placeholder, source, replica in self.inputs
            if placeholder.consumers() or placeholder in returned
        ]

    def captured(self) -> list[Any]:
        """Tensors of the replica trace that the merge function captured."""
        return [outer for outer, _ in functions.captures(self.graph) if self._is_inside(outer)]

    # Values that return to the replica.

    def hand_back(self, result: object) -> Nest:
        """`result`, a nest of tensors of this merge, as the replica trace sees it."""
        with self.program.graph.as_default():
            return nests.map_structure(self._hand_back_leaf, result)

    def _hand_back_leaf(self, leaf: object) -> Nest:
        if isinstance(leaf, tf.Operation):
            if leaf.graph is not self.graph:
                return leaf
            self._op_results.append(tf.no_op())
            return self._op_results[-1]
        if distributed.is_variable(leaf) or not (
            distributed.is_distributed(leaf) or distributed.is_tensor_like(leaf)
        ):
            return leaf
        parts = distributed.components(leaf)
        columns = list(zip(*[distributed.flatten(part) for part in parts]))
        return distributed.pack(parts[0], [self._result(c) for c in columns])

    def result_ops(self) -> list[Operation]:
        """The ops of the replica trace that stand for results of the merge."""
        return self._op_results + [placeholder.op for placeholder, _ in self.results]

    def input_ops(self) -> list[Operation]:
        """The ops of the replica trace that the merge waits for or takes values of."""
        start: list[Any] = [self._start] if self._start is not None else []
        sources = [source for _, source, _ in self.used()] + self.captured()
        return start + [tensor.op for tensor in sources]

    def _result(self, tensors: Sequence[Tensor]) -> Tensor:
        own = [getattr(tensor, "graph", None) is self.graph for tensor in tensors]
        if all(t is tensors[0] for t in tensors):
            if not own[0]:
                return tensors[0]
            tensors = tensors[:1]
        with self.graph.as_default():  # a value of this merge, and no reference to one
            tensors = [
                t if is_own and t.dtype == t.dtype.base_dtype else tf.identity(t)
                for t, is_own in zip(tensors, own)
            ]
        with tf.control_dependencies(None):
            placeholder = functions.placeholder_like(tensors[0])
        self.results.append((placeholder, tensors))
        return placeholder


def outside(program: Program, merge_fn: Fn, args: Args, kwargs: Kwargs) -> Any:
    """Runs `merge_fn` eagerly, where ``tf.init_scope`` has left the trace of `program`."""
    extended = program.extended
    strategy = extended._container_strategy()

    def enter(leaf: Any) -> Nest:
        if isinstance(leaf, tf.Variable) or not distributed.is_tensor_like(leaf):
            return leaf
        return distributed.per_replica(extended, [leaf] * program.num_replicas)

    with distributed.cross_replica(strategy), extended.place():
        args, kwargs = nests.map_structure(enter, (tuple(args), kwargs))
        return nests.map_structure(_only_one, merge_fn(strategy, *args, **kwargs))


def _only_one(leaf: object) -> Any:
    parts: Any = () if distributed.is_variable(leaf) else distributed.components(leaf)
    for part in parts[1:]:
        if part is not parts[0] and not np.array_equal(part, parts[0]):
            raise ContextError(
                "`merge_call` in tf.init_scope gives the replicas different values",
                "one trace serves all replicas, and outside of it there is one value",
                "merge_call outside of tf.init_scope",
            )
    return parts[0] if parts else leaf


class NestedMergeError(ContextError):
    """A merge in a place where the trace cannot be cut."""


def graphs_around(home: FunctionGraph) -> list[FunctionGraph]:
    """The graphs of branches and loops, from the outermost inside of `home` to the current one."""
    inside: list[FunctionGraph] = []
    graph = tf.compat.v1.get_default_graph()
    while graph is not home:
        if not functions.is_branch_or_loop(graph):
            raise refusal(getattr(graph, "name", graph))
        inside.insert(0, graph)
        graph = graph.outer_graph
    return inside


def check_place(graph: Graph) -> None:
    """Refuses a merge in a place where the trace cannot be cut into segments."""
    current = tf.compat.v1.get_default_graph()
    if current is not graph:
        raise refusal(getattr(current, "name", current))


def refusal(place: object) -> NestedMergeError:
    """The error of a merge in a graph, branch or loop inside of a replica."""
    return NestedMergeError(
        "`merge_call` called while defining a new graph or a tf.function "
        "(%s), inside the function passed to `run`" % place,
        "all replicas meet in a merge_call (an all_reduce, an optimizer's apply_gradients, an "
        "assignment that aggregates), and the virtual TPU cannot meet in a loop's condition, in a "
        "function of a dataset, in a nested @tf.function with a branch or loop, or before "
        "TensorFlow 2.4 in any other nested @tf.function, or in a branch or loop behind an effect "
        "(in a Session's graph: behind a variable that tf.get_variable does not make), or before "
        "TensorFlow 1.14 in any branch or loop",
        "take the @tf.function off the nested function, or move the call out of the condition or "
        "function; make the variables, and do what has an effect, before `run`; or TensorFlow 1.15",
    )


def note_update(variable: Variable) -> None:
    """Records that `variable` is updated as one value for all replicas."""
    trace = function_graphs.current()
    if isinstance(trace, Merge):
        trace.updated.append(variable)
    elif not tf.executing_eagerly():
        stored_once.assume_equal(variable, for_good=True)


def differs(value: Any) -> bool:
    """Whether the argument `value` of an update may differ per replica."""
    if not distributed.is_distributed(value) or reductions.count(value) == 1:
        return False
    if distributed.is_variable(value):
        return not stored_once.is_stored_once(value)
    trace: Any = function_graphs.current()
    source = trace.source_of(value) if isinstance(trace, Merge) else None
    if source is not None and not distributed.is_mirrored(value):
        return not trace.program.uniformity.holds(source)
    return not uniformity.are_equal(distributed.components(value))


def is_known_equal(value: object) -> bool:
    """Whether all replicas are known to have handed over `value`, which entered the merge."""
    trace: Any = function_graphs.current()
    source = trace.source_of(value) if isinstance(trace, Merge) else None
    return source is not None and trace.program.uniformity.holds(source)


def _key(value: object) -> Any:
    """Identifies a distributed value: by its lazy parts, or by its first tensor."""
    if isinstance(value, reductions.PerReplica) and isinstance(value._values, reductions.Parts):
        return value._values
    return distributed.flatten(distributed.components(value)[0])[0]


def combine(reduce_op: object, value: object, destinations: object = None) -> Nest:
    """Reduces a per-replica `value`, outside of the current merge if possible."""
    trace = function_graphs.current()
    reduced = trace.reduced(reduce_op, value) if isinstance(trace, Merge) else None
    if reduced is not None:
        return reduced
    return reductions.combine(reduce_op, distributed.components(value), "", destinations)
