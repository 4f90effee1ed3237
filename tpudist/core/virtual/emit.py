"""Calls the stages of a traced program: each once per replica."""

import functools

import tensorflow as tf

from tpudist.core import functions
from tpudist.core import natives
from tpudist.core.virtual import reduction
from tpudist.core.virtual import stages
from tpudist.core.virtual import variables


def emit(program, results):
    """Puts the program into the graph that called ``run``.

    Args:
      program: the traced `Program`.
      results: what the replica function returned.

    Returns:
      The same nest, a ``PerReplica`` in place of each tensor.
    """
    return _Emission(program, results).emit()


class _Emission:
    """The tensors that each replica has so far, while stages are called."""

    def __init__(self, program, results):
        self._program = program
        self._count = program.num_replicas
        self._results = results
        self._known = [{} for _ in range(self._count)]
        self._sums = {}
        self._last = []

    def emit(self):
        """Calls all stages and merges; returns the results."""
        program = self._program
        for held, tensors in program.arguments:
            self._learn(held, tensors)
        for external, held in program.graph.captures:
            self._learn(held, self._captured(external))
        cut = stages.cut(program, self._wanted())
        summed = self._summed()
        with program.outer.as_default(), program.extended.place():
            for stage, merge in zip(cut, program.merges + [None]):
                if stage is not None:
                    self._call_stage(stage, summed)
                if merge is not None:
                    self._call_merge(merge)
                    for variable in merge.updated:
                        variables.assume_equal(variable)
            for value, receive in program.deliveries:
                receive(tf.nest.map_structure(self._leave, value))
            return tf.nest.map_structure(self._leave, self._results)

    def _learn(self, tensor, per_replica):
        for known, value in zip(self._known, per_replica):
            known[id(tensor)] = value

    def _captured(self, external):
        handles = variables.replica_handles(external)
        if handles is None:
            variables.assume_equal(variables.of_handle(external))
            return [external] * self._count
        return handles

    def _is_inside(self, tensor):
        return getattr(tensor, "graph", None) is self._program.graph

    def _wanted(self):
        leaving = [self._results]
        leaving += [value for value, _ in self._program.deliveries]
        tensors = [t for t in natives.flatten(leaving) if self._is_inside(t)]
        for merge in self._program.merges:
            tensors += [source for _, source, _ in merge.inputs]
            tensors += [outer for outer, _ in merge.graph.captures
                        if self._is_inside(outer)]
        return {id(t): t for t in tensors}

    def _summed(self):
        return {id(source): source for merge in self._program.merges
                for _, source, replica in merge.inputs if replica == "sum"}

    def _call_stage(self, stage, summed):
        """One call per replica, one after the other.

        The ops of a call use all cores of the device; in sequence, a
        replica's intermediate values are gone before the next one's come.
        """
        for known in self._known:
            with tf.control_dependencies(self._last):
                found = functions.call(
                    stage.function, [known[id(t)] for t in stage.inputs],
                    stage.outputs)
            known.update((id(t), f) for t, f in zip(stage.outputs, found))
            self._last = [found[0].op]
            self._add(stage.outputs, found, summed)

    def _add(self, outputs, found, summed):
        for tensor, value in zip(outputs, found):
            if id(tensor) not in summed:
                continue
            total = self._sums.get(id(tensor))
            self._sums[id(tensor)] = (
                value if total is None
                else reduction.add(total, value, tensor.op.name))

    def _call_merge(self, merge):
        graph = merge.graph
        used = [(held, source, replica) for held, source, replica
                in merge.inputs if held.consumers() or _is_output(merge, held)]
        graph.inputs = [held for held, _, _ in used]
        graph.inputs += [held for _, held in graph.captures]
        graph.outputs = [t for _, tensors in merge.results for t in tensors]
        graph.control_outputs = merge.must_run
        if not graph.outputs:
            with graph.as_default():
                graph.outputs = [tf.constant(0)]
        given = [self._source(source, replica) for _, source, replica in used]
        given += [self._known[0].get(id(outer), outer)
                  for outer, _ in graph.captures]
        with tf.control_dependencies(self._last):
            found = functions.call(functions.make(graph, noinline=False),
                                   given, graph.outputs)
        self._last = [found[0].op]
        for held, tensors in merge.results:
            values, found = found[:len(tensors)], found[len(tensors):]
            self._learn(held, values * (self._count // len(values)))

    def _source(self, source, replica):
        if replica == "sum":
            if id(source) in self._sums:
                return self._sums[id(source)]
            return functools.reduce(
                lambda total, value: reduction.add(
                    total, value, source.op.name),
                [known[id(source)] for known in self._known])
        return self._known[replica][id(source)]

    def _leave(self, leaf):
        if isinstance(leaf, tf.Operation):
            with tf.control_dependencies(self._last):
                return tf.no_op()
        if natives.is_variable(leaf) or not natives.is_tensor_like(leaf):
            return leaf
        flat = natives.flatten(leaf)
        if not any(self._is_inside(t) for t in flat):
            return leaf
        parts = [natives.pack(leaf, [known.get(id(t), t) for t in flat])
                 for known in self._known]
        return natives.per_replica(self._program.extended, parts)


def _is_output(merge, held):
    return any(held is t for _, tensors in merge.results for t in tensors)
