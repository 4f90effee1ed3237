"""Values in divergent control flow: selecting between them, and the ops that cannot fail.

Ops in divergent control flow are computed for all replicas, and each replica selects its own
results. So they must be ops that cannot fail, whatever values they get: those of a replica that
has left a loop may be out of bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual.vectorize import rules
from tpudist.virtual.vectorize.values import batched_values

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor


#: Ops that cannot fail, whatever values they get. An optional that a gradient unpacks is never
#: empty: :mod:`branches` gives each branch the one that this branch has packed.
_SAFE = (
    frozenset(rules.TOTAL)
    | frozenset(rules.IDENTITIES)
    | frozenset(
        """BatchMatMulV2 BatchMatMulV3 BiasAdd BiasAddGrad Const MatMul NoOp OptionalFromValue
        OptionalGetValue OptionalNone Pack Rank ReadVariableOp Shape ShapeN Size LogSoftmax Softmax
        Squeeze Unpack""".split()
    )
)

#: Ops on images.
CONVOLUTIONS = ("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput")

#: Ops on shapes and axes in gradients; they cannot fail if these are known while tracing.
_SHAPE_ARITHMETIC = ("BroadcastGradientArgs", "ConcatOffset", "InvertPermutation")

#: Ops that return shapes.
_SHAPES = ("Rank", "Shape", "ShapeN", "Size")

#: Divisions; those of integers cannot fail if the divisor is known and above 0.
_DIVISIONS = ("FloorDiv", "FloorMod")

#: Ops that fail for some integers, but for no floats.
_SAFE_FOR_FLOATS = _DIVISIONS + ("Div", "Pow")

#: Ops that cannot fail if these inputs (axes, shapes, indices) are known while tracing.
_SAFE_IF_KNOWN = {
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

#: The highest rank of values that `select` takes, without the axis of replicas.
_MAX_RANK = rules.MAX_RANKS["SelectV2"] - 1


def check_cannot_fail(called: Any, situation: str, also_safe: Any = ()) -> None:
    """Checks that no op of the functions can fail.

    Args:
      called: `called_functions.Function` objects.
      situation: what the replicas do, the begin of the reason.
      also_safe: further types of ops that cannot fail here.

    Raises:
      NotBatchable: an op may fail.
    """
    ops = [op for function in called for op in function.body if op.type not in also_safe]
    risky = sorted(op.type for op in ops if not _is_safe(op))
    if risky:
        raise batched_values.NotBatchable("%s, and %s may fail" % (situation, risky[0]))


def _is_safe(op: Operation) -> bool:
    if op.type in _SAFE:
        return True
    if op.type in _SHAPE_ARITHMETIC:
        return all(map(_is_known, op.inputs))
    if op.type in _SAFE_FOR_FLOATS and op.outputs[0].dtype.is_floating:
        return True
    if op.type in _DIVISIONS:
        divisor = functions.static_value(op.inputs[1])
        return divisor is not None and bool((divisor > 0).all())
    return (
        op.type in _SAFE_IF_KNOWN
        and all(_is_known(op.inputs[i]) for i in _SAFE_IF_KNOWN[op.type])
        and all(tensor.shape.is_fully_defined() or _is_known(tensor) for tensor in op.inputs)
    )


def _is_known(tensor: Tensor) -> bool:
    """Whether the value of `tensor` is known while tracing, maybe computed from shapes."""
    if functions.static_value(tensor) is not None:
        return True
    if tensor.op.type in _SHAPES:
        return all(shaped.shape.is_fully_defined() for shaped in tensor.op.inputs)
    return tensor.op.type in _SHAPE_ARITHMETIC + _DIVISIONS and all(
        map(_is_known, tensor.op.inputs)
    )


def stacked(value: Any, reason: str) -> Any:
    """The tensor ``[N, ...]`` of a batched value.

    Raises:
      NotBatchable: it is neither a batch nor uniform; for this `reason`.
    """
    if isinstance(value, (batched_values.Batch, batched_values.Uniform)):
        return value.stacked()
    raise batched_values.NotBatchable(reason)


def select(condition: Any, one: Any, other: Any) -> Any:
    """For each replica `one` if its `condition` is true, else `other`.

    Args:
      condition: a bool tensor ``[N]``.
      one, other: `Batch` objects of the same shape.

    Raises:
      NotBatchable: they have too many axes.
    """
    rank = len(one.shape)
    if rank > _MAX_RANK:
        raise batched_values.NotBatchable("a value has more than %d axes" % _MAX_RANK)
    broadcast_condition = tf.reshape(condition, [-1] + [1] * rank)
    where = tf.compat.v2.where  # the one of TensorFlow 1 does not broadcast
    return batched_values.Batch(
        one.count, one.shape, stacked=where(broadcast_condition, one.stacked(), other.stacked())
    )


def only_active(active: Any, value: Any) -> Any:
    """A batched value for sums over the replicas that are `active`, a bool tensor ``[N]``.

    Values of the others are replaced by zeros. They may be NaN, so they are not multiplied by 0.
    """
    if isinstance(value, batched_values.ReplicaSum):
        return value
    if isinstance(value, batched_values.Uniform):
        number = tf.reduce_sum(tf.cast(active, value.value.dtype))
        return batched_values.ReplicaSum(value.value * number)
    zeros = tf.zeros([value.count] + value.shape, value.stacked().dtype)
    return select(active, value, batched_values.Batch(value.count, value.shape, stacked=zeros))
