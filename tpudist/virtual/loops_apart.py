"""Loops that replicas leave at different times.

They run until the last replica is done; the variables of those that are done stay as they
are. A round is computed for these too, so it must be one that cannot fail (:mod:`apart`).
"""

import tensorflow as tf

from tpudist.virtual import apart, batched_values, joined_functions
from tpudist.virtual.identity_map import IdentityMap

_WHAT = "replicas leave the loop at different times"


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
    apart.check(loop, _WHAT)
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
    raise batched_values.NotJoined(_WHAT)


class _Any(joined_functions.Part):
    """Whether any replica does another round."""

    def _results(self, joined, function, summed):
        (goes_on,) = self._added(joined, function, summed)
        return [batched_values.Uniform(joined.count, tf.reduce_any(_condition(goes_on)))]


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
        return before.like(apart.chosen(_condition(goes_on), after, before).tensors())


def _condition(value):
    return apart.stacked(value, "the condition of the loop cannot be joined")
