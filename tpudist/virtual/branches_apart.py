"""Branches of which replicas take different ones.

Both are computed for all replicas, without a call, and each replica's is chosen. So they
must be branches that cannot fail (:mod:`apart`).
"""

import tensorflow as tf

from tpudist.virtual import apart, batched_values
from tpudist.virtual.identity_map import IdentityMap

_WHAT = "replicas take different branches"


def join(joined, op, given, branches):
    """The batched values of the outputs of `op`, an If op whose condition differs.

    Args:
      joined: the `joined_graph.JoinedGraph` that gets the ops.
      op: an op of the trace that has no effect.
      given: the batched value of each of its inputs.
      branches: its two `nested.Function` objects.

    Raises:
      NotJoined: it can not be joined.
    """
    if op.inputs[0].dtype != tf.bool or op.inputs[0].shape.rank != 0:
        raise batched_values.NotJoined(_WHAT)
    if any(tensor.dtype in (tf.resource, tf.variant) for tensor in op.outputs):
        raise batched_values.NotJoined("%s, and a gradient needs what they computed" % _WHAT)
    apart.check(branches, _WHAT)
    condition = apart.stacked(given[0], _WHAT)
    inners = [joined.inside(IdentityMap()) for _ in branches]
    for inner, branch in zip(inners, branches):
        inner.add_function(branch, given[1:])
    results = [inner.held(branch.outputs) for inner, branch in zip(inners, branches)]
    made = [
        apart.chosen(condition, *_alike(one, other, tensors))
        for one, other, *tensors in zip(*results, *[branch.outputs for branch in branches])
    ]
    for inner in inners:
        joined.record.add(inner.record)
    return made


def _alike(one, other, tensors):
    """Both results as `Batch` objects of one shape."""
    values = [_batch(value, tensor) for value, tensor in zip((one, other), tensors)]
    if values[0].shape != values[1].shape:
        raise batched_values.NotJoined("%s, which give other shapes" % _WHAT)
    return values


def _batch(value, tensor):
    if isinstance(value, batched_values.Batch):
        return value
    shape = value.static_shape(tensor)
    if not shape.is_fully_defined():
        raise batched_values.NotJoined("%s, and a shape is known only when it runs" % _WHAT)
    stacked = apart.stacked(value, _WHAT)
    return batched_values.Batch(value.count, shape.as_list(), stacked=stacked)
