"""Traces a replica function once, for all replicas.

A real TPU traces the replica function once, with a symbolic replica id, and
runs the compiled program on every core. So does the virtual TPU in a
``tf.function``: the trace is one FuncGraph. Where the function leaves replica
context (``merge_call``, and with it every all-reduce and every assignment
that aggregates) the trace records a merge. When it ends, :mod:`segments` cuts it
at the merges, and :mod:`batching` batches the replicas of all segments if it can.
:mod:`segment_calls` calls each merge once, and each segment once if the replicas
are batched, else once per replica.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import distributed, functions, lifting, versions
from tpudist.virtual import explanations
from tpudist.virtual.replicas import effect_order, merge, replica_seeds, segment_calls, uniformity
from tpudist.virtual.trace import arguments, function_graphs, pruning
from tpudist.virtual.variables import raw_writes, splits, storage

if TYPE_CHECKING:
    from typing import Any, Callable, Mapping, Sequence

    from tpudist.tfcompat.annotations import Extended


def run(
    extended: Extended, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Traces `fn` once and runs it once per replica.

    Context: cross-replica, while a ``tf.function`` is being traced.

    Args:
      extended: the `VirtualExtended`.
      fn: the replica function.
      args, kwargs: its arguments; each replica gets its component of distributed values.

    Returns:
      What `fn` returned, a ``PerReplica`` in place of each tensor.
    """
    explanation = explanations.Explanation(fn, extended._num_replicas_in_sync)
    while True:
        program = Program(extended, explanation)
        results = program.trace(functions.convert(fn), args, kwargs)
        for variable in effect_order.variables_between(program):
            splits.split(variable)
        raw_writes.split(program.graph.get_operations())
        if not program.is_outdated():
            program.numbers = replica_seeds.number(program)
            results = segment_calls.build_calls(program, results)
            program.forget_lines()
            explanation.finish(program.graph)
            extended.explanations.append(explanation)
            return results


class Program(function_graphs.Trace):
    """The trace of one replica function.

    Attributes:
      extended: the `VirtualExtended`.
      arguments: [(placeholder in `graph`, [N tensors of `outer`])].
      merges: the `merge.Merge` objects in program order.
      deliveries: [(nest, receive)]: values that leave the function without
        being returned; see :mod:`delivery`.
      explanation: the `explanations.Explanation` of what becomes of it.
      numbers: {random op: [its number per replica]}; see :mod:`replica_seeds`.
      uniformity: the `Uniformity`, which knows the values that are the same on every replica.
    """

    def __init__(self, extended: Extended, explanation: Any) -> None:
        super().__init__("replica_function")
        self.explanation = explanation
        self.extended = extended
        self.arguments: list[Any] = []
        self.merges: list[Any] = []
        self.deliveries: list[Any] = []
        self.numbers: dict[Any, Any] = {}
        self.uniformity = uniformity.Uniformity(self)
        self._replica_id = None

    @property
    def num_replicas(self) -> int:
        """Number of replicas the program runs on."""
        return int(self.extended._num_replicas_in_sync)

    def trace(self, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Calls `fn` in replica context; returns what it returned."""
        with self.graph.as_default():
            args, kwargs = arguments.enter(self, (args, kwargs))
        with self.ordered():
            with self.extended.place(), TracedReplica(self):
                results = fn(*args, **kwargs)
            if self.extended.runs_as_session:
                pruning.prune(self, results)
        return results

    def is_outdated(self) -> bool:
        """Whether a variable was split after the trace had taken it for one value.

        The function is then traced again, with one value per component.
        """
        return self.uniformity.has_changed() or not all(
            storage.is_stored_once(variable)
            for merge_ in self.merges
            for variable in merge_.updated + merge_.used_as_one
        )

    def forget_lines(self) -> None:
        """Drops the source lines of the ops of the trace: the copies of the ops have them."""
        for graph in [self.graph] + [merge_.graph for merge_ in self.merges]:
            graph.made_at.clear()

    def replica_id(self) -> Any:
        """The replica's id, an int32 scalar that is known only at run time."""
        if self._replica_id is None:
            with self.graph.as_default(), tf.control_dependencies(None):
                self._replica_id = _id_of_any_replica()
            with self.outer.as_default(), tf.control_dependencies(None):
                ids = tf.unstack(tf.constant(list(range(self.num_replicas))))
            self.arguments.append((self._replica_id, ids))
        return self._replica_id

    def outside(self, kwargs: dict[str, Any]) -> Any:
        """Leaves the trace; see the base class.

        Raises:
          ContextError: the variable would start from what only the trace knows.
        """
        initial = kwargs.get("initial_value")
        if getattr(initial, "graph", None) is self.graph:
            updated = [variable for merge_ in self.merges for variable in merge_.updated]
            for inner in lifting.variables_read(initial):
                handle = functions.captured(inner)
                variable = storage.of_handle(handle)
                if any(variable is one for one in updated):
                    raise lifting.refusal("%r, which it has changed before" % variable.name)
                if storage.per_replica_variable(handle) is not None:
                    raise lifting.refusal("%r, which each replica has its own of" % variable.name)
        return super().outside(kwargs)

    def merge(
        self, merge_fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Runs `merge_fn` once, in cross-replica context."""
        if tf.executing_eagerly():  # in tf.init_scope
            return merge.outside(self, merge_fn, args, kwargs)
        merge.check_place(self.graph)
        merge_ = merge.Merge(self)
        self.merges.append(merge_)
        return merge_.run(merge_fn, args, kwargs)


def _id_of_any_replica() -> Any:
    """The tensor that is the replica's id in a trace.

    Releases that need a static id while they trace get a constant. When the program is called,
    each replica's id replaces it.
    """
    name = "replica_id_in_sync_group"
    if versions.TRACE_ONCE:
        return tf.compat.v1.placeholder(tf.int32, [], name)
    return tf.constant(0, name=name)


class TracedReplica(distributed.ReplicaContext):
    """The replica context of a trace that stands for every replica.

    Variables see replica 0; user code sees a symbolic id.
    """

    #: Read by variables of other strategies on the slice; see :mod:`other_strategies`.
    stands_for_all = True

    def __init__(self, program: Program) -> None:
        super().__init__(program.extended._container_strategy(), 0)
        self._program = program

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The replica's id, an int32 scalar tensor."""
        if functions.in_function_inside(self._program.graph):
            stored = storage.replica_id(self._program.extended)
            if stored is not None:
                return stored
        return self._program.replica_id()

    def experimental_logical_device(self, logical_device_id: int) -> Any:
        """See `VirtualExtended`."""
        return self.strategy.extended.experimental_logical_device(logical_device_id)

    def _merge_call(
        self, merge_fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        return self._program.merge(merge_fn, args, kwargs)
