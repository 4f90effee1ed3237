"""Loops that replicas leave at different times.

They run until the last replica is done; the variables of those that are done stay as they
are. A round is computed for these too, so it must be one that cannot fail.
"""

import tensorflow as tf

from tpudist.virtual import batched_values, batching_rules, joined_functions
from tpudist.virtual.identity_map import IdentityMap

#: Ops that never end in an error, whatever numbers they get.
_SAFE = (
    frozenset(batching_rules.TOTAL)
    | frozenset(batching_rules.PASSES + batching_rules.RESHAPES)
    | frozenset(
        """All Any BatchMatMulV2 BatchMatMulV3 BiasAdd ConcatV2 Const Max Mean MatMul Min Pack
        Prod Rank ReadVariableOp Shape Size Softmax Split StridedSlice Sum Tile Transpose
        Unpack""".split()
    )
)


def join(joined, op, given, loop):
    """The batched values of the outputs of `op`, a While op whose condition differs.

    Args:
      joined: the `joined_graph.JoinedGraph` that gets the op.
      op: an op of the trace that has no effect.
      given: the batched value of each of its inputs.
      loop: its `nested.Loop`.

    Raises:
      NotJoined: it can not be joined.
    """
    risky = {each.type for part in loop for each in part.body} - _SAFE
    if risky:
        raise batched_values.NotJoined(
            "replicas leave the loop at different times, and %s may fail" % sorted(risky)[0]
        )
    held = [
        value if inner is result else _batch(value, joined.count, inner)
        for value, inner, result in zip(given, loop.body.inputs, loop.body.outputs)
    ]
    condition = _Any(joined, loop.condition, held, IdentityMap())
    body = _Round(joined, loop, held)
    made = joined_functions.loop(op, given, held, condition, body)
    joined.record.add(body.record)
    return made


def _batch(value, count, tensor):
    shape = value.static_shape(tensor)
    if (
        isinstance(value, (batched_values.Uniform, batched_values.Batch))
        and shape.is_fully_defined()
        and tensor.dtype not in (tf.resource, tf.variant)
    ):
        return batched_values.Batch(count, shape.as_list())
    raise batched_values.NotJoined("replicas leave the loop at different times")


class _Any(joined_functions.Part):
    """Whether any replica does another round."""

    def _results(self, joined, function, summed):
        (goes_on,) = self._added(joined, function, summed)
        return [batched_values.Uniform(joined.count, tf.reduce_any(_stacked(goes_on)))]


class _Round(joined_functions.Part):
    """One round, for the replicas that are not done."""

    def __init__(self, joined, loop, held):
        self._condition = loop.condition
        super().__init__(joined, loop.body, held, IdentityMap())

    def _results(self, joined, function, summed):
        (goes_on,) = self._added(joined, self._condition, summed)
        results = self._added(joined, function, summed)
        return [
            before if inner is result else self._chosen(goes_on, after, before)
            for inner, result, after, before in zip(
                function.inputs, function.outputs, results, self._held
            )
        ]

    @staticmethod
    def _chosen(goes_on, after, before):
        after = batched_values.converted(after, before)
        if not batched_values.is_like(after, before):
            raise batched_values.NotJoined("a variable of the loop changes its shape")
        chosen = tf.reshape(_stacked(goes_on), [-1] + [1] * len(before.shape))
        return before.like(
            batched_values.Batch(
                before.count,
                before.shape,
                stacked=tf.where(chosen, after.stacked(), before.stacked()),
            ).tensors()
        )


def _stacked(value):
    if isinstance(value, (batched_values.Batch, batched_values.Uniform)):
        return value.stacked()
    raise batched_values.NotJoined("the condition of the loop cannot be joined")
