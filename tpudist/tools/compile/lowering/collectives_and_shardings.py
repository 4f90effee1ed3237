"""Reads the collectives and shardings of a traced step off its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

import tensorflow as tf
from tensorflow.compiler.xla import xla_data_pb2

from tpudist.tools.compile import program
from tpudist.tools.compile.lowering import graph_ops
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import collectives as kinds

if TYPE_CHECKING:
    from tpudist.tools.compile.lowering.tracing import Step

#: Ops whose output is their input, or its value.
_SAME_VALUE = ("Identity", "ReadVariableOp", "XlaSharding")


def collectives(
    graph: tf.Graph, among: Iterable[tf.Operation] | None = None
) -> tuple[program.Collective, ...]:
    """Returns a `program.Collective` for each collective of a graph, in its order.

    A collective in a loop counts once, one in a function once for each call.

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


def shardings(
    step: Step, among: Iterable[tf.Operation] | None = None
) -> tuple[program.Sharding, ...]:
    """Returns a `program.Sharding` for each annotation of a traced step, in its order.

    There are none if a replica has one logical device.

    Args:
      step: a `tracing.Step`; its arguments are the first parameters of the
        program, its variables the rest.
      among: as for :func:`graph_ops.ops`.
    """
    if step.partitions == 1:
        return ()
    inputs = [each for each in step.inputs if each.placeholder.dtype != tf.resource]
    inputs += [each for each in step.inputs if each.placeholder.dtype == tf.resource]
    index = IdentityMap((each.placeholder, i) for i, each in enumerate(inputs))
    annotated = []
    for path, op in graph_ops.ops(step.graph, among):
        annotation = _annotation(op)
        if annotation is not None:
            parameter = index.get(_source(op))
            name = path if parameter is None else inputs[parameter].name
            annotated.append(
                _sharding(
                    op,
                    annotation,
                    step.partitions,
                    parameter=parameter,
                    name=name,
                    location=graph_ops.location(step.graph, path, op),
                )
            )
    return tuple(annotated)


def _annotation(op: tf.Operation) -> Any:
    """Returns the ``OpSharding`` of an op, None if it has none."""
    name = "sharding" if op.type == "XlaSharding" else "_XlaSharding"
    try:
        value = op.get_attr(name)
    except ValueError:
        return None
    return xla_data_pb2.OpSharding.FromString(tf.compat.as_bytes(value))


def _source(op: tf.Operation) -> tf.Tensor:
    """Returns the tensor that the output of an annotated op was read from."""
    tensor = op.outputs[0]
    while tensor.op.type in _SAME_VALUE:
        tensor = tensor.op.inputs[0]
    return tensor


def _sharding(op: tf.Operation, annotation: Any, devices: int, **fields: Any) -> program.Sharding:
    whole = shape(op.outputs[0])
    tiles = list(annotation.tile_assignment_dimensions)[: len(whole)]
    part, description = whole, "replicate"
    if annotation.type == xla_data_pb2.OpSharding.OTHER:
        description = "split " + "x".join(map(str, tiles))
        part = tuple(-(-size // count) for size, count in zip(whole, tiles))
    elif annotation.type == xla_data_pb2.OpSharding.MAXIMAL:
        description = "assign to %d of %d" % (annotation.tile_assignment_devices[0], devices)
    return program.Sharding(
        description=description, global_shape=whole, per_device_shape=part, **fields
    )


def shape(tensor: tf.Tensor) -> tuple[int, ...]:
    """Returns a tensor's shape, with -1 for unknown dimensions; () for an unknown rank."""
    if tensor.shape.rank is None:
        return ()
    return tuple(-1 if size is None else size for size in tensor.shape.as_list())
