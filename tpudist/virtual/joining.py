"""One call of a segment for all replicas, their batches joined.

The replicas of a slice run one program on equal shares of a batch. On one
device the same program on the whole batch gives each replica the same values
and keeps the device busy with a few large operations instead of many small
ones. :mod:`batching_rules` says how; an op without a rule runs once per replica
between the others, and each replica draws its own random numbers. Where an op
has an effect that only one call per replica can have, or a shape is known only
when the program runs, all segments are called once per replica
(:mod:`segment_calls`).
"""

import collections

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import functions, random_seeds
from tpudist.virtual import batched_values, batching_rules, segments
from tpudist.virtual.identity_map import IdentityMap

#: Ops that only read a resource.
_READS = ("ReadVariableOp", "ResourceGather", "VariableShape")

#: Ops that change a variable.
_WRITES = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")

#: Ops on a variable that may run once per replica.
_VARIABLES = ("ReadVariableOp",) + _WRITES

#: Ops that take a resource but do not read its value.
_ASK_NO_VALUE = ("Identity", "VariableShape")

#: Ops with an output whose shape is the kernel's choice.
_RESERVING = ("FusedBatchNormV3", "FusedBatchNormGradV3")

_SHAPES = ("Rank", "Shape", "ShapeN", "Size")

#: A function, the tensors of the trace that it takes, and its results as
#: [(tensor of the trace, batched value)].
Joined = collections.namedtuple("Joined", "function inputs outputs")


def join(program, cut, known):
    """The segments of a program, each for all replicas at once.

    Args:
      program: the traced `Program`.
      cut: its `segments.Segment` objects, None for an empty one.
      known: {tensor of the trace: batched value} of the program's inputs.

    Returns:
      A list of `Joined`, or None if the program cannot be joined.
    """
    outlines, made = IdentityMap(known), []
    for segment, merge in zip(cut, program.merges + [None]):
        joined = segment and _Joining(program, segment, outlines).joined()
        if segment is not None and joined is None:
            return None
        made.append(joined)
        outlines.update(joined.outputs if joined else ())
        for held, tensors in merge.results if merge else ():
            outlines[held] = batched_values.of_parts(
                tensors * (program.num_replicas // len(tensors)), held
            )
    return made


class _Joining:
    """The construction of one `Joined`."""

    def __init__(self, program, segment, outlines):
        self._program = program
        self._segment = segment
        self._count = program.num_replicas
        self._outlines = outlines
        self._made = {}
        self._batched = IdentityMap()
        self._summed = _summed(segment)

    def joined(self):
        """The `Joined`, or None if an op cannot be joined."""
        program, segment = self._program, self._segment
        with program.outer.as_default():
            graph = functions.FuncGraph("replicas_segment")
        functions.add_library(program.graph, graph)
        with graph.as_default(), program.extended.place():
            for tensor in segment.inputs:
                batched = self._outlines[tensor].held(tensor)
                self._batched[tensor] = batched
                graph.inputs += batched.tensors()
            if self._interleaves() or not all(self._copy(op) for op in segment.body):
                return None
            outputs = [
                (tensor, self._canonical(self._batched[tensor])) for tensor in segment.outputs
            ]
            graph.outputs = [held for _, batched in outputs for held in batched.tensors()] or [
                tf.constant(0)
            ]
        graph.control_outputs = [made for op in segment.must_run for made in self._made[op]]
        return Joined(functions.make(graph, noinline=False), segment.inputs, outputs)

    def _interleaves(self):
        """Whether joined replicas would meet at a variable in another order.

        Replicas share a variable that the strategy did not create. Called one
        by one, the first replica runs all its ops on it, then the second;
        joined, all replicas run the first op, then the second. The result is
        the same if there is only one op, or if no op changes the variable.
        """
        used = IdentityMap()
        for op in self._segment.body:
            for tensor in segments.inputs_of(op):
                if tensor.dtype == tf.resource and op.type not in _ASK_NO_VALUE:
                    used.setdefault(_root(tensor), []).append(op.type)
        return any(
            len(used[tensor]) > 1 and any(op_type in _WRITES for op_type in used[tensor])
            for tensor in self._segment.inputs
            if tensor in used and isinstance(self._outlines[tensor], batched_values.Uniform)
        )

    @staticmethod
    def _canonical(batched):
        return batched.like(batched.tensors())

    def _copy(self, op):
        """Adds `op` for all replicas; returns whether that is possible."""
        before = [
            made for control in segments.controls_of(op) for made in self._made.get(control, ())
        ]
        with tf.control_dependencies(before):
            found = self._found(op)
        if found is None:
            return False
        self._batched.update(zip(op.outputs, found))
        self._made.setdefault(op, [tensor.op for batched in found for tensor in batched.tensors()])
        return True

    def _found(self, op):
        """The batched values of the outputs of `op`; None if it cannot be joined."""
        inputs = segments.inputs_of(op)
        if any(tensor not in self._batched for tensor in inputs):
            return None  # the backward edge of a loop
        given = [self._batched[tensor] for tensor in inputs]
        if op.type in _SHAPES:
            return _shapes(op, self._count)
        uniform = all(isinstance(batched, batched_values.Uniform) for batched in given)
        if uniform and (op.type in _READS or not functions.is_stateful(op)):
            return self._once(op, [batched.value for batched in given])
        if op.type in _VARIABLES:
            return self._for_each(op, given)
        if not _is_known(op):
            return None
        if random_seeds.is_random(op):
            return self._drawn(op, given)
        if functions.is_stateful(op) and op.type not in _READS:
            return None
        return self._by_rule(op, given) or self._for_each(op, given)

    def _by_rule(self, op, given):
        if op.type not in batching_rules.RULES or any(
            isinstance(batched, batched_values.Each) for batched in given
        ):
            return None
        summed = op.outputs[0] in self._summed
        node = batching_rules.Node(op, given, self._count, summed)
        return batching_rules.RULES[op.type](node) if node.has_room() else None

    def _once(self, op, inputs):
        made = functions.copy_op(op, inputs)
        self._made[op] = [made]
        return [batched_values.Uniform(self._count, tensor) for tensor in made.outputs]

    def _for_each(self, op, given):
        """One op per replica; stateful ones run one after the other."""
        made = []
        for inputs in zip(*[batched.each() for batched in given]):
            before = made[-1:] if functions.is_stateful(op) else []
            with tf.control_dependencies(before):
                made.append(functions.copy_op(op, inputs))
        return self._columns(op, made)

    def _drawn(self, op, given):
        """Random numbers: one op per replica, each with a state of its own."""
        numbers = self._program.numbers.get(op)
        return self._columns(
            op,
            [
                functions.copy_op(op, inputs, numbers and random_seeds.attribute(numbers[replica]))
                for replica, inputs in enumerate(zip(*[batched.each() for batched in given]))
            ],
        )

    def _columns(self, op, made):
        """The batched values of the outputs of `op` when `made` are its copies."""
        self._made[op] = made
        columns = zip(*[copy.outputs for copy in made])
        return [
            batched_values.of_parts(list(column), tensor)
            for column, tensor in zip(columns, op.outputs)
        ]


def _root(tensor):
    """The handle that `tensor` is, seen through every Identity."""
    while tensor.op.type == "Identity":
        tensor = segments.origin(tensor.op.inputs[0])
    return tensor


def _is_known(op):
    """Whether all shapes around `op` are known while tracing."""
    return op.type in _RESERVING or all(
        tensor.shape.is_fully_defined() for tensor in list(op.inputs) + list(op.outputs)
    )


def _shapes(op, count):
    """The outputs of an op that asks for shapes; None if a shape is unknown while tracing."""
    if not all(tensor.shape.is_fully_defined() for tensor in op.inputs):
        return None
    ask = {"Rank": len, "Size": np.prod}.get(op.type, list)
    return [
        batched_values.Uniform(
            count, tf.constant(ask(value.shape.as_list()), tensor.dtype, tensor.shape)
        )
        for value, tensor in zip(op.inputs, op.outputs)
    ]


def _summed(segment):
    """The tensors that are needed only as a sum over the replicas."""
    consumers = IdentityMap()
    for op in segment.body:
        for tensor in segments.inputs_of(op):
            consumers.setdefault(tensor, []).append(op)
    summed = IdentityMap()
    for op in reversed(segment.body):
        for tensor in op.outputs:
            if tensor in segment.each:
                continue
            used = consumers.get(tensor, ())
            if (used or tensor in segment.summed) and all(
                _is_linear(consumer) and consumer.outputs[0] in summed for consumer in used
            ):
                summed[tensor] = tensor
    return summed


def _is_linear(op):
    """Whether a sum of outputs of `op` is its output for sums of inputs."""
    return (
        op.type in batching_rules.LINEAR
        and len(op.outputs) == 1
        and all(
            op.type in batching_rules.RESHAPES
            or tensor.shape.is_fully_defined()
            and tensor.shape == op.outputs[0].shape
            for tensor in op.inputs
        )
    )
