"""Reads the collectives and shardings of a traced step off its graph."""

import tensorflow as tf
from tensorflow.compiler.xla import xla_data_pb2

from tpudist.tools.compile import program
from tpudist.tools.compile.lowering import graph_ops
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import collectives as kinds

#: Ops that pass on a parameter, or read it.
_SAME = ("Identity", "ReadVariableOp", "XlaSharding")


def collectives(graph, among=None):
    """The `program.Collective` objects of a graph, in its order.

    One in a loop counts once, one in a function once for each call.

    Args:
      graph, among: as for :func:`graph_ops.ops`.
    """
    return tuple(
        program.Collective(
            kinds.OPS[op.type].replace("_", "-"),
            op.inputs[0].dtype.name,
            shape(op.inputs[0]),
            graph_ops.location(graph, path, op),
        )
        for path, op in graph_ops.ops(graph, among)
        if op.type in kinds.OPS
    )


def shardings(step, among=None):
    """The `program.Sharding` objects of a traced step, in its order.

    There are none where a replica has one logical device.

    Args:
      step: a `tracing.Step`; its arguments are the first parameters of the
        program, its variables the rest.
      among: as for :func:`graph_ops.ops`.
    """
    if step.partitions == 1:
        return ()
    held = [entry for entry in step.inputs if entry[1].dtype != tf.resource]
    held += [entry for entry in step.inputs if entry[1].dtype == tf.resource]
    index = IdentityMap((entry[1], i) for i, entry in enumerate(held))
    found = []
    for path, op in graph_ops.ops(step.graph, among):
        annotation = _annotation(op)
        if annotation is not None:
            parameter = index.get(_source(op))
            name = path if parameter is None else held[parameter][0]
            found.append(
                _sharding(
                    op,
                    annotation,
                    step.partitions,
                    parameter=parameter,
                    name=name,
                    location=graph_ops.location(step.graph, path, op),
                )
            )
    return tuple(found)


def _annotation(op):
    """The ``OpSharding`` of an op, None if it has none."""
    name = "sharding" if op.type == "XlaSharding" else "_XlaSharding"
    try:
        value = op.get_attr(name)
    except ValueError:
        return None
    return xla_data_pb2.OpSharding.FromString(tf.compat.as_bytes(value))


def _source(op):
    """The tensor that the output of an annotated `op` was read from."""
    tensor = op.outputs[0]
    while tensor.op.type in _SAME:
        tensor = tensor.op.inputs[0]
    return tensor


def _sharding(op, annotation, devices, **about):
    whole = shape(op.outputs[0])
    tiles = list(annotation.tile_assignment_dimensions)[: len(whole)]
    part, description = whole, "replicate"
    if annotation.type == xla_data_pb2.OpSharding.OTHER:
        description = "split " + "x".join(map(str, tiles))
        part = tuple(-(-size // count) for size, count in zip(whole, tiles))
    elif annotation.type == xla_data_pb2.OpSharding.MAXIMAL:
        description = "assign to %d of %d" % (annotation.tile_assignment_devices[0], devices)
    return program.Sharding(
        description=description, global_shape=whole, per_device_shape=part, **about
    )


def shape(tensor):
    """A tensor's shape as a tuple: the known dimensions, -1 for others; () for an unknown rank."""
    if tensor.shape.rank is None:
        return ()
    return tuple(-1 if size is None else size for size in tensor.shape.as_list())
