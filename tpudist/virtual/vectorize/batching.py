"""One call of a segment for all replicas, their batches joined.

The replicas of a slice run one program on equal shares of a batch. On one
device the same program on the whole batch gives each replica the same values
and keeps the device busy with a few large operations instead of many small
ones. :mod:`rules` says how, :mod:`batched_graph` does it op by op. What cannot
be joined (an op without a rule, one with an effect, one whose shapes only the run
knows) is done once per replica between the others; :mod:`effects` tells where
replicas must not overtake each other.
"""

import collections

import tensorflow as tf

from tpudist.tfcompat import functions, placed_graphs
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import effects, ordering
from tpudist.virtual.vectorize import (
    batched_graph,
    batched_values,
    failed_rules,
    own_variables,
    replica_sums,
    stacked_variables,
    tensor_lists,
)

#: A function, the tensors of the trace that it takes, its results as
#: [(tensor of the trace, batched value)], and what is done around it, `own_variables.Around`.
#: Where it would compute nothing, in place of the function a list: for each tensor of the
#: results the position of what it takes.
Joined = collections.namedtuple("Joined", "function inputs outputs around")


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
        try:
            joined = segment and _join(program, segment, outlines)
        except batched_values.NotJoined as error:
            return _refused(program, str(error))
        except stacked_variables.NeedsHandles:
            raise
        except Exception as error:  # pylint: disable=broad-except
            return _refused(program, failed_rules.reason(error))
        if segment is not None and joined is None:
            return _refused(program, "it has a loop of TensorFlow 1")
        made.append(joined)
        outlines.update(joined.outputs if joined else ())
        for held, tensors in merge.results if merge else ():
            outlines[held] = batched_values.of_parts(
                tensors * (program.num_replicas // len(tensors)), held
            )
    return made


def _refused(program, reason):
    program.explanation.reason = reason


def _join(program, segment, outlines):
    """The `Joined` of a segment; None if it has a loop of TensorFlow 1."""
    segment, around = own_variables.taken_out(segment, outlines)
    body = ordering.sorted_ops(segment.body)
    if body is None:
        return None
    own_variables.note(around, program, outlines)
    given = IdentityMap((tensor, outlines[tensor]) for tensor in segment.inputs)
    with program.outer.as_default():
        # One device for all, in place of what the outer graph asks for each op.
        graph = placed_graphs.PlacedGraph("replicas_segment", program.extended.real_device)
    functions.add_library(program.graph, graph)
    summed, record = replica_sums.in_segment(segment, body), program.explanation.record
    made = batched_graph.JoinedGraph(program, graph, summed, record)
    with graph.building():
        for tensor in segment.inputs:
            graph.inputs += made.take(tensor, given[tensor])
        made.add(body, effects.island(body, given))
        outputs = [(tensor, made.leaving(tensor, segment.each)) for tensor in segment.outputs]
        graph.outputs = [held for _, batched in outputs for held in batched.tensors()] or [
            tf.constant(0)
        ]
    passed = _passed(graph)
    if passed is not None:
        return Joined(passed, segment.inputs, outputs, around)
    tensor_lists.check_fed(graph)
    must_run = [op for must in segment.must_run for op in made.copies(must)]
    graph.control_outputs = list(collections.OrderedDict.fromkeys(must_run))
    program.explanation.built += len(graph.get_operations())
    function = functions.make(graph, noinline=False)
    return Joined(function, segment.inputs, outputs, around)


def _passed(graph):
    """For each output of a graph that computes nothing the position of its input, or None."""
    if not all(op.type in ("Placeholder", "NoOp") for op in graph.get_operations()):
        return None
    positions = IdentityMap((held, i) for i, held in enumerate(graph.inputs))
    return [positions[tensor] for tensor in graph.outputs]
