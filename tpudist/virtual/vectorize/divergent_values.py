"""Choices between values in divergent control flow, and which ops may be computed for all.

What one of them does is computed for all, and each takes its own. So it must be what cannot
fail, whatever numbers it gets: those of a replica that is done may be out of bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual.vectorize import batched_values, rules

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Operation, Tensor


#: Ops that never end in an error, whatever numbers they get. What a gradient unpacks is there:
#: :mod:`divergent_branches` gives each branch what that branch has packed.
_SAFE = (
    frozenset(rules.TOTAL)
    | frozenset(rules.PASSES)
    | frozenset(
        """BatchMatMulV2 BatchMatMulV3 BiasAdd BiasAddGrad Const MatMul NoOp OptionalFromValue
        OptionalGetValue OptionalNone Pack Rank ReadVariableOp Shape ShapeN Size LogSoftmax Softmax
        Squeeze Unpack""".split()
    )
)

#: Ops on images.
CONVOLUTIONS = ("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput")

#: Ops that gradients make of shapes and axes; safe where these are known while tracing.
_OF_SHAPES = ("BroadcastGradientArgs", "ConcatOffset", "InvertPermutation")

#: Ops that ask for shapes.
_SHAPES = ("Rank", "Shape", "ShapeN", "Size")

#: Divisions; of whole numbers they are safe where the divisor is known, and above 0.
_DIVISIONS = ("FloorDiv", "FloorMod")

#: Ops that fail for some whole numbers alone.
_OF_FLOATS = _DIVISIONS + ("Div", "Pow")

#: Ops that are safe where these inputs (axes, shapes, places) are known while tracing.
_SETTINGS = {
    **dict.fromkeys("All Any ExpandDims Max Mean Min Prod Reshape Sum Tile Transpose".split(), [1]),
    **dict.fromkeys(CONVOLUTIONS, []),
    "BroadcastTo": [1],
    "ConcatV2": [-1],
    "Conv2DBackpropFilter": [1],
    "Conv2DBackpropInput": [0],
    "Fill": [0],
    "Pad": [1],
    "Range": [0, 1, 2],
    "Slice": [1, 2],
    "Split": [0],
    "StridedSlice": [1, 2, 3],
    "StridedSliceGrad": [0, 1, 2, 3],
}

#: The highest rank that the choice between two values takes, beside the axis of replicas.
_RANK = rules.RANKS["SelectV2"] - 1


def check(parts: Any, what: str, also: Any = ()) -> None:
    """Refuses functions with an op that may fail.

    Args:
      parts: `called_functions.Function` objects.
      what: what the replicas do, for the error.
      also: types of further ops that cannot fail here.

    Raises:
      NotBatchable: an op of theirs may fail.
    """
    ops = [op for part in parts for op in part.body if op.type not in also]
    risky = sorted(op.type for op in ops if not _is_safe(op))
    if risky:
        raise batched_values.NotBatchable("%s, and %s may fail" % (what, risky[0]))


def _is_safe(op: Operation) -> bool:
    if op.type in _SAFE:
        return True
    if op.type in _OF_SHAPES:
        return all(map(_is_known, op.inputs))
    if op.type in _OF_FLOATS and op.outputs[0].dtype.is_floating:
        return True
    if op.type in _DIVISIONS:
        divisor = functions.static_value(op.inputs[1])
        return divisor is not None and bool((divisor > 0).all())
    return (
        op.type in _SETTINGS
        and all(_is_known(op.inputs[i]) for i in _SETTINGS[op.type])
        and all(given.shape.is_fully_defined() or _is_known(given) for given in op.inputs)
    )


def _is_known(tensor: Tensor) -> bool:
    """Whether the value of a setting is known while tracing: it may be made of shapes."""
    if functions.static_value(tensor) is not None:
        return True
    if tensor.op.type in _SHAPES:
        return all(given.shape.is_fully_defined() for given in tensor.op.inputs)
    return tensor.op.type in _OF_SHAPES + _DIVISIONS and all(map(_is_known, tensor.op.inputs))


def stacked(value: Any, what: str) -> Any:
    """The tensor ``[replicas, ...]`` of a batched value.

    Raises:
      NotBatchable: it is held in another way; `what` the replicas do is told.
    """
    if isinstance(value, (batched_values.Batch, batched_values.Uniform)):
        return value.stacked()
    raise batched_values.NotBatchable(what)


def chosen(condition: Any, one: Any, other: Any) -> Any:
    """For each replica `one` where its `condition` holds, else `other`.

    Args:
      condition: a bool tensor ``[replicas]``.
      one, other: `Batch` objects of the same shape.

    Raises:
      NotBatchable: they have too many axes.
    """
    rank = len(one.shape)
    if rank > _RANK:
        raise batched_values.NotBatchable("a value has more than %d axes" % _RANK)
    of_all = tf.reshape(condition, [-1] + [1] * rank)
    where = tf.compat.v2.where  # the one of TensorFlow 1 does not broadcast
    return batched_values.Batch(
        one.count, one.shape, stacked=where(of_all, one.stacked(), other.stacked())
    )


def counted(condition: Any, value: Any) -> Any:
    """A batched value as it goes into a sum over the replicas whose `condition` holds.

    What the others have may be no number at all, so it is left out, not multiplied by 0.
    """
    if isinstance(value, batched_values.ReplicaSum):
        return value
    if isinstance(value, batched_values.Uniform):
        number = tf.reduce_sum(tf.cast(condition, value.value.dtype))
        return batched_values.ReplicaSum(value.value * number)
    nothing = tf.zeros([value.count] + value.shape, value.stacked().dtype)
    return chosen(condition, value, batched_values.Batch(value.count, value.shape, stacked=nothing))
