"""Traces a replica function once, for all replicas.

A real TPU traces the replica function once, with a symbolic replica id, and runs the compiled
program on every core. So does the virtual TPU in a ``tf.function``: the trace is one FuncGraph.
Where the function leaves replica context (``merge_call``, and with it every all-reduce and every
assignment that aggregates) the trace records a merge. When it ends, :mod:`segments` cuts it at the
merges. :mod:`segment_calls` calls each merge once, and each segment once if :mod:`vectorize` can
batch the replicas, else once per replica. A branch or loop in which the replicas meet is cut itself
(a `Part`), and is like a merge to the trace around it (:mod:`flows`).
"""

from __future__ import annotations

import bisect
import collections
from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.tfcompat import distributed, functions, graphs, nests, random_seeds, versions
from tpudist.virtual import explanations
from tpudist.virtual.replicas import flows, merge, segment_calls, uniformity
from tpudist.virtual.tpu_check import reports
from tpudist.virtual.trace import dependencies, function_graphs
from tpudist.virtual.variables import splits, storage, stored_once

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tpudist.tfcompat.annotations import (
        Args,
        Extended,
        Fn,
        FunctionGraph,
        Kwargs,
        Nest,
        Operation,
        Strategy,
        Tensor,
    )


def run(extended: Extended, fn: Fn, args: Args, kwargs: Kwargs) -> Nest:
    """Traces `fn` once and runs it once per replica; returns a ``PerReplica`` for each tensor.

    Context: cross-replica, while a ``tf.function`` is being traced.
    """
    explanation = explanations.Explanation(fn, len(extended.worker_devices))
    while True:
        program, results = _traced(extended, explanation, fn, args, kwargs)
        for each in program.with_parts():
            if each.parts:
                found = each.merges + flows.of(each)
                each.merges = sorted(found, key=lambda one: one.position)
            for variable in _assigned_between_effects(each):
                splits.split(variable)
        splits.split_written(program.graph.get_operations())
        if not program.is_outdated():
            for each in program.with_parts():
                each.number_random_ops()
            explanation.refused = reports.check_program(program, results)
            results = segment_calls.Calls(program, results).build()
            explanation.finish(program.graph, [one.merges() for one in program.merges])
            for graph in [program.graph] + [merge_.graph for merge_ in program.all_merges()]:
                graph.made_at.clear()  # the copies of the ops have the lines
            extended.explanations.append(explanation)
            return results


def _traced(
    extended: Extended, explanation: object, fn: Fn, args: Args, kwargs: Kwargs
) -> tuple[Program, Any]:
    """(the trace of `fn`, what it returned); ``tf.function`` in it that merge are parts of it."""
    program = Program(extended, explanation)
    try:
        return program, program.trace(functions.convert(fn), args, kwargs)
    except merge.NestedMergeError as refused:
        if not versions.FUNCTIONS_CAN_BE_INLINED:
            raise
        program = Program(extended, explanation)
        try:
            with functions.inlined():
                return program, program.trace(functions.convert(fn), args, kwargs)
        except TypeError:  # Of a Tensor as a condition: AutoGraph converts no inlined function.
            raise refused from None


class Program(function_graphs.Trace):
    """The trace of one replica function.

    Attributes:
      extended: the `VirtualExtended`.
      replica_ids, num_replicas: the replicas that it runs on: those of this process.
      arguments: [(placeholder in `graph`, [N tensors of `outer`])].
      merges: the `merge.Merge` objects in program order, and the `flows.Flow` objects among them.
      parts: the `Part` of each branch or loop in it in which replicas meet.
      deliveries: [(nest, receive)]: values that leave it otherwise; see :func:`deliver`.
      explanation: the `explanations.Explanation` of what becomes of it.
      numbers: {random op: [its number per replica]}; see :meth:`number_random_ops`.
      uniformity: the `Uniformity`, which knows the values that are the same on every replica.
    """

    #: The `Program` around a `Part`.
    around: Any = None

    def __init__(self, extended: Extended, explanation: Any) -> None:
        super().__init__("replica_function")
        self.explanation = explanation
        self.extended = extended
        self.arguments: list[Any] = []
        self.deliveries: list[Any] = []
        self._replica_id: Tensor | None = None
        self._begin()

    def _begin(self) -> None:
        """Sets what a trace has before anything is traced: no merges, and no parts."""
        self.replica_ids = distributed.local_replicas(self.extended)
        self.num_replicas = len(self.replica_ids)
        self.merges: list[Any] = []
        self.parts: list[Part] = []
        self.numbers: dict[Operation, list[int]] = {}
        self.uniformity = uniformity.Uniformity(self)

    def trace(self, fn: Fn, args: Args, kwargs: Kwargs) -> Nest:
        """Calls `fn` in replica context; returns what it returned."""
        with self.graph.as_default():
            args, kwargs = nests.map_structure(
                lambda leaf: function_graphs.enter(self, leaf), (args, kwargs)
            )
        with self.ordered():
            with self.extended.place(), TracedReplica(self):
                results = nests.map_structure(function_graphs.own_array, fn(*args, **kwargs))
            if self.extended.runs_as_session:
                dependencies.prune(self, results)
        return results

    def is_outdated(self) -> bool:
        """Whether a variable was split after the trace had taken it for one value."""
        if any(each.uniformity.has_changed() for each in self.with_parts()):
            return True
        return not all(
            stored_once.is_stored_once(variable)
            for merge_ in self.all_merges()
            for variable in merge_.updated + merge_.used_as_one
        )

    def with_parts(self) -> list[Program]:
        """This program and the parts of it, at any depth."""
        return [self] + [one for part in self.parts for one in part.with_parts()]

    def all_merges(self) -> list[merge.Merge]:
        """The merges of it and of its parts."""
        return [inner for one in self.merges for inner in one.merges()]

    def number_random_ops(self) -> None:
        """Sets :attr:`numbers`, so that each replica draws what it would under MirroredStrategy.

        TensorFlow numbers the random ops without a seed of their own: up to a merge first all of
        replica 0, then all of replica 1; then the merge's, and so on. Until 2.1 it counts all ops
        of the graph; there the number of a replica is computed from that of the trace.
        """
        counted = random_seeds.numbered(self.graph)
        if not versions.COUNTS_RANDOM_OPS:
            for op in [op for _, op in counted if op is not None]:
                number, ids = op.get_attr("seed2"), self.replica_ids
                self.numbers[op] = [random_seeds.number_of_replica(number, i) for i in ids]
            return
        positions = [one.position for one in self.merges]
        for segment, merge_ in enumerate(self.merges + [None]):
            ops = [op for place, op in counted if bisect.bisect_right(positions, place) == segment]
            for replica_id in range(self.extended._num_replicas_in_sync):
                numbers = [random_seeds.next_number(self.outer) for _ in ops]
                for op, number in zip(ops, numbers) if replica_id in self.replica_ids else ():
                    self.numbers.setdefault(op, []).append(number)
            if isinstance(merge_, merge.Merge):
                self._number_ops_of(merge_)

    def _number_ops_of(self, merge_: merge.Merge) -> None:
        for _, op in random_seeds.numbered(merge_.graph):
            number = random_seeds.next_number(self.outer)
            if op is not None:
                random_seeds.renumber(op, number)

    def replica_id(self) -> Tensor:
        """The replica's id, an int32 scalar that is known only at run time."""
        if self._replica_id is None:
            with self.graph.as_default(), tf.control_dependencies(None):
                name = "replica_id_in_sync_group"
                self._replica_id = (
                    tf.compat.v1.placeholder(tf.int32, [], name)
                    if versions.TRACE_ONCE
                    else tf.constant(0, name=name)  # a static one, which is replaced later
                )
            with self.outer.as_default(), tf.control_dependencies(None):
                ids = tf.unstack(tf.constant(list(self.replica_ids)))
            self.arguments.append((self._replica_id, ids))
        return self._replica_id

    def outside(self, kwargs: dict[str, Any]) -> Any:
        """Leaves the trace; see the base class."""
        initial = kwargs.get("initial_value")
        if getattr(initial, "graph", None) is self.graph:
            updated = [variable for merge_ in self.merges for variable in merge_.updated]
            for inner in graphs.variables_read(initial):
                handle = functions.captured(inner)
                variable = stored_once.of_handle(handle)
                if any(variable is one for one in updated):
                    raise graphs.lift_refusal("%r, which it has changed before" % variable.name)
                if storage.per_replica_variable(handle) is not None:
                    raise graphs.lift_refusal(
                        "%r, which each replica has its own of" % variable.name
                    )
        return super().outside(kwargs)

    def merge(self, merge_fn: Fn, args: Args, kwargs: Kwargs) -> Nest:
        """Runs `merge_fn` once, in cross-replica context."""
        if tf.executing_eagerly():  # in tf.init_scope
            return merge.outside(self, merge_fn, args, kwargs)
        here = self
        for graph in merge.graphs_around(self.graph):
            here = here.part(graph)
        merge_ = merge.Merge(here)
        here.merges.append(merge_)
        return merge_.run(merge_fn, args, kwargs)

    def part(self, graph: FunctionGraph) -> Part:
        """The `Part` that is the trace of a branch or of a loop's body."""
        known = [part for part in self.parts if part.graph is graph]
        return known[0] if known else Part(self, graph)


class Part(Program):
    """The trace of a branch, or of the body of a loop, in which replicas meet."""

    def __init__(self, around: Program, graph: Any) -> None:
        self.graph, self.around, self.outer = graph, around, around.outer
        self.extended, self.explanation = around.extended, around.explanation
        self.arguments = []
        self._begin()
        around.parts.append(self)
        self.graph._tpudist_trace = self

    @property
    def must_run(self) -> list[Operation]:  # type: ignore[override]
        """Its ops with an effect."""
        ops = self.graph.get_operations()
        return [op for op in ops if functions.is_stateful(op) and not graphs.only_reads(op)]

    @property
    def deliveries(self) -> list[Any]:  # type: ignore[override]
        """Refuses to let a value leave the function."""
        raise merge.refusal(self.graph.name)

    def number_random_ops(self) -> None:
        """Sets :attr:`numbers`: TensorFlow numbers the ops of each branch and loop from 0."""
        for op in random_seeds.numbered_inside(self.graph):
            number = op.get_attr("seed2")
            self.numbers[op] = [
                random_seeds.number_of_replica(number, each) for each in self.replica_ids
            ]
        for merge_ in self.merges:
            if isinstance(merge_, merge.Merge):
                self._number_ops_of(merge_)

    def replica_id(self) -> Tensor:
        around: Program = self.around
        return around.replica_id()

    def bring_in(self, tensors: Sequence[Any]) -> None:
        """Makes tensors of the traces around it inputs of the branch or loop, for a merge in it."""
        for tensor in tensors:
            graph, around = getattr(tensor, "graph", None), self.around
            while isinstance(around, Part) and graph is not around.graph:
                around = around.around
            if graph is around.graph:
                functions.capture(self.graph, tensor)


class TracedReplica(distributed.ReplicaContext):
    """The replica context while one trace is made for all replicas; its replica id is a tensor."""

    #: Read by variables of other strategies on the slice; see :mod:`stored_once`.
    stands_for_all = True

    def __init__(self, program: Program) -> None:
        first, *_ = program.replica_ids
        super().__init__(program.extended._container_strategy(), first)
        self._program = program

    @property
    def replica_id_in_sync_group(self) -> Tensor:
        """The replica's id, an int32 scalar tensor."""
        if functions.in_function_inside(self._program.graph):
            stored = storage.replica_id(self._program.extended)
            if stored is not None:
                return stored
        return self._program.replica_id()

    def experimental_logical_device(self, logical_device_id: int) -> AbstractContextManager[Any]:
        """See `VirtualExtended`."""
        extended: Extended = self.strategy.extended
        return extended.experimental_logical_device(logical_device_id)

    def _merge_call(self, merge_fn: Fn, args: Args, kwargs: Kwargs) -> Nest:
        return self._program.merge(merge_fn, args, kwargs)


def _assigned_between_effects(program: Program) -> list[Any]:
    """The variables whose one value is assigned between effects that replicas share.

    Such an assignment is a merge (:func:`tpudist.virtual.variables.splits.update_once`), where
    TensorFlow's replicas run one to its end, then the next. Numbers depend on that order if a
    shared resource (:func:`dependencies.uses`) is used before and after it: the variable then gets
    a value per replica. Printing, summaries and Python functions without results give no numbers.
    """
    if not any(one.assigned is not None for one in program.merges):
        return []
    variables = []
    for uses in _uses_of_shared(program).values():
        changed = any(changes for _, changes in uses)
        segments = [segment for segment, _ in uses]
        if changed:
            between = program.merges[min(segments) : max(segments)]
            variables += [one.assigned for one in between if one.assigned is not None]
    return variables


def _uses_of_shared(program: Program) -> dict[Any, list[tuple[int, bool]]]:
    """{key: [(segment, whether it is changed)]} of what replicas share; a merge makes new keys."""
    positions = [one.position for one in program.merges]
    native = [one.position for one in program.merges if one.assigned is None]

    def is_shared(handle: Any) -> bool:
        outer = functions.captured(handle)
        return storage.per_replica_variable(outer) is None

    uses = collections.defaultdict(list)
    for i, op in enumerate(program.graph.get_operations()):
        for handle, changes in dependencies.uses(op, is_shared):
            effects = list(dependencies.effects_of(op))
            gives = any(each.type in dependencies.PYTHON and each.outputs for each in effects)
            if handle is not dependencies.WORLD or gives:
                changes = changes and not all(each.type.endswith("Summary") for each in effects)
                key = id(handle), bisect.bisect_right(native, i)
                uses[key].append((bisect.bisect_right(positions, i), changes))
    return uses


def deliver(value: object, receive: Fn) -> None:
    """Calls ``receive(value)`` in the context that started the replicas, with distributed values.

    Context: any under a strategy. Replicas that are traced one by one merge for it; a trace
    delivers the value after its segments have been called.

    Raises:
      ContextError: from a nested function, loop or branch of a replica.
    """
    trace = function_graphs.current()
    if trace is not None and trace.handed_out is not None:
        merge.check_place(trace.graph)
        trace.handed_out.append((value, receive))
    elif isinstance(trace, merge.Merge):
        merge.check_place(trace.graph)
        trace.program.deliveries.append((trace.hand_back(value), receive))
    elif tf.distribute.get_replica_context() is None:
        receive(value)
    elif isinstance(trace, Program):
        merge.check_place(trace.graph)
        trace.deliveries.append((value, receive))
    else:
        tf.distribute.get_replica_context().merge_call(
            functions.library(lambda strategy, merged: receive(merged)), args=(value,)
        )


def spread(strategy: Strategy, value: object) -> list[Any]:
    """Splits a nest with distributed leaves into one nest for each replica of this process."""
    return [
        nests.map_structure(
            lambda leaf, i=i: (
                distributed.components(leaf)[i] if distributed.is_distributed(leaf) else leaf
            ),
            value,
        )
        for i in range(len(distributed.local_replicas(strategy.extended)))
    ]
