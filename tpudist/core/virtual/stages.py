"""Cuts the trace of a replica function into stages, at its merges."""

import bisect
import collections

import tensorflow as tf

from tpudist.core import functions

#: A program of at most so many ops, over all replicas, is inlined: calling a
#: function costs more than optimising a few ops once per replica. A larger one
#: keeps one body per stage, which is optimised once for all replicas.
_INLINED_OPS = 4096

#: A stage: a TensorFlow function and the tensors of the trace that it takes
#: and gives.
Stage = collections.namedtuple("Stage", "function inputs outputs")


def cut(program, wanted):
    """The stages of a trace, one before each merge and one after the last.

    Args:
      program: the traced `Program`.
      wanted: tensors of the trace that are needed outside of it: results and
        the sources of merges.

    Returns:
      A list of ``len(program.merges) + 1`` `Stage`, None for an empty one.
    """
    stage_of = _assign(program)
    given = _inputs_of_trace(program)
    bodies = [[] for _ in range(len(program.merges) + 1)]
    for op, stage in stage_of.items():
        bodies[stage].append(op)
    used_later = _used_in_other_stages(stage_of)
    nodes = {node.name: node
             for node in program.graph.as_graph_def().node}
    shared = len(stage_of) * program.num_replicas > _INLINED_OPS
    return [_stage(program, nodes, ops, given, wanted, used_later, shared)
            if ops else None for ops in bodies]


def _assign(program):
    """{op: stage}, by program order; inputs of the trace are in no stage."""
    placeholders = _inputs_of_trace(program)
    positions = [merge.position for merge in program.merges]
    operations = [op for op in program.graph.get_operations()
                  if op.type != "Placeholder"
                  or id(op.outputs[0]) not in placeholders]
    indices = {op: i for i, op in enumerate(program.graph.get_operations())}
    stage_of = collections.OrderedDict(
        (op, bisect.bisect_right(positions, indices[op]))
        for op in operations)
    _pull_forward(stage_of)
    return stage_of


def _pull_forward(stage_of):
    """Moves an op before its consumers.

    Gradients of loops add ops late and give them to the early loop.
    """
    pending = list(stage_of)
    while pending:
        op = pending.pop()
        for tensor in op.inputs:
            producer = tensor.op
            if stage_of.get(producer, -1) > stage_of[op]:
                stage_of[producer] = stage_of[op]
                pending.append(producer)


def _inputs_of_trace(program):
    held = [placeholder for placeholder, _ in program.arguments]
    held += [inner for _, inner in program.graph.captures]
    held += [inner for merge in program.merges for inner, _ in merge.results]
    return {id(tensor): tensor for tensor in held}


def _used_in_other_stages(stage_of):
    used = set()
    for op, stage in stage_of.items():
        for tensor in op.inputs:
            if stage_of.get(tensor.op, stage) != stage:
                used.add(id(tensor))
    return used


def _stage(program, nodes, body, given, wanted, used_later, shared):
    inside = set(body)
    inputs = collections.OrderedDict()
    for op in body:
        for tensor in op.inputs:
            if id(tensor) in given or tensor.op not in inside:
                inputs[id(tensor)] = tensor
    outputs = [tensor for op in body for tensor in op.outputs
               if id(tensor) in used_later or id(tensor) in wanted]
    must_run = [op for op in program.must_run if op in inside]
    graph = _copy(program, [nodes[op.name] for op in body],
                  list(inputs.values()), outputs, must_run)
    return Stage(functions.make(graph, noinline=shared),
                 list(inputs.values()), outputs)


def _copy(program, body, inputs, outputs, must_run):
    """A FuncGraph with copies of the nodes of `body`."""
    graph_def = tf.compat.v1.GraphDef()
    graph_def.versions.CopyFrom(program.graph.graph_def_versions)
    names = {node.name for node in body}
    for node in body:
        graph_def.node.add().CopyFrom(_detached(node, names))
    with program.outer.as_default():
        graph = functions.FuncGraph("replica_stage")
    functions.add_library(program.graph, graph)
    with graph.as_default():
        held = [functions.placeholder_like(tensor) for tensor in inputs]
        found = tf.graph_util.import_graph_def(
            graph_def, name="",
            input_map=dict(zip([t.name for t in inputs], held)),
            return_elements=[t.name for t in outputs]
            + [op.name for op in must_run])
        graph.inputs = held
        graph.outputs = found[:len(outputs)] or [tf.constant(0)]
        graph.control_outputs = found[len(outputs):]
    return graph


def _detached(node, names):
    """A copy of `node` without ties to nodes outside of `names`."""
    copy = type(node)()
    copy.CopyFrom(node)
    del copy.input[:]
    copy.input.extend(name for name in node.input
                      if name[0] != "^" or name[1:] in names)
    if "_class" in copy.attr:
        del copy.attr["_class"]
    return copy
