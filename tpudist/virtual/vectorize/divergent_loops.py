"""Divergent loops: replicas leave them at different times; and the gradients of such loops.

They run until the last replica is done; the variables of those that are done stay as they
are. A round is computed for these too, so it must be one that cannot fail
(:mod:`divergent_values`).

For its gradient a loop adds to lists in each round, and the loop of the gradient takes the
last elements first. So there replicas begin at different times, and end together: those whose
rounds are yet to come keep their values, and add nothing to what is summed over the replicas.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.vectorize import (
    batched_functions,
    batched_values,
    divergent_values,
    replica_sums,
    unequal_rounds,
)

if TYPE_CHECKING:
    from typing import Any, Callable

    from tpudist.tfcompat.annotations import Operation, Tensor
    from tpudist.virtual.annotations import Loop


_WHAT = "replicas leave the loop at different times"

#: Variables are held in at most three ways, one after the other.
_ROUNDS = 6


def batch(batched: Any, op: Operation, given: Any, loop: Loop) -> Any:
    """The batched values of the outputs of `op`, a While op whose condition differs.

    Args:
      batched: the `batched_graph.BatchedGraph` that gets the op.
      op: an op of the trace that has no effect.
      given: the batched value of each of its inputs.
      loop: its `called_functions.Loop`.

    Raises:
      NotBatchable: it can not be batched.
    """
    divergent_values.check(loop, _WHAT, [unequal_rounds.PUSH])
    left = unequal_rounds.left_by(loop, given)
    made = _batched(batched, op, given, loop, functools.partial(_Round, loop.condition))
    return unequal_rounds.leave(made, *left)


def batch_gradient(
    batched: Any, op: Operation, given: Any, loop: Loop, counted: Any, enough: Any
) -> Any:
    """The same for the gradient of a loop that replicas have left at different times.

    Args:
      batched, op, given, loop: see :func:`batch`.
      counted: what `unequal_rounds.gradient_of` says.
      enough: for each variable of the loop, whether its sum over the replicas is enough.
    """
    divergent_values.check(loop, _WHAT, [unequal_rounds.POP])
    late = unequal_rounds.begun_late(loop, given, *counted)
    added = [unequal_rounds.is_added_to(loop.body, i) for i in range(len(given))]
    enough = replica_sums.of_loop(loop, [one and other for one, other in zip(enough, added)])
    needed = replica_sums.in_function(loop.body, enough)
    make = functools.partial(_RoundOfGradient, counted[0], needed)
    return _batched(batched, op, late, loop, make)


def _batched(
    batched: Any, op: Operation, given: Any, loop: Loop, make_round: Callable[..., Any]
) -> Any:
    held = [
        value if unequal_rounds.is_kept(loop, i) else _batch(value, tensor)
        for i, (value, tensor) in enumerate(zip(given, loop.body.inputs))
    ]
    for _ in range(_ROUNDS):
        body = make_round(batched, loop, held)
        if all(map(batched_values.is_like, held, body.outputs)):
            condition = _Any(batched, loop.condition, held, IdentityMap())
            made = batched_functions.loop(op, given, held, condition, body)
            batched.record.add(body.record)
            return made
        held = list(map(batched_values.merged, held, body.outputs))
    raise batched_values.NotBatchable(_WHAT)


def _batch(value: Any, tensor: Tensor) -> Any:
    """How the loop begins to hold a variable that changes."""
    if tensor.dtype == tf.variant:
        return value
    shape = value.static_shape(tensor)
    if (
        isinstance(value, (batched_values.Uniform, batched_values.Batch))
        and shape.is_fully_defined()
        and tensor.dtype != tf.resource
    ):
        return batched_values.Batch(value.count, shape.as_list())
    raise batched_values.NotBatchable(_WHAT)


class _Any(batched_functions.Part):
    """Whether any replica does another round."""

    def _results(self, batched: Any, function: Any, summed: Any) -> list[Any]:
        (goes_on,) = self._added(batched, function, summed)
        return [batched_values.Uniform(batched.count, tf.reduce_any(_condition(goes_on)))]


class _Round(batched_functions.Part):
    """One round, for the replicas that are not done."""

    def __init__(self, condition: Any, batched: Any, loop: Loop, held: Any) -> None:
        self._condition = condition
        super().__init__(batched, loop.body, held, IdentityMap())

    def _results(self, batched: Any, function: Any, summed: Any) -> Any:
        (goes_on,) = self._added(batched, self._condition, summed)
        results = self._added(batched, function, summed)
        chosen = functools.partial(_chosen, _condition(goes_on))
        return list(map(chosen, results, self._held, function.inputs, function.outputs))


class _RoundOfGradient(batched_functions.Part):
    """One round of a gradient, for the replicas whose rounds have begun."""

    def __init__(self, counter: Any, needed: Any, batched: Any, loop: Loop, held: Any) -> None:
        self._counter = counter
        super().__init__(batched, loop.body, held, needed)

    def _results(self, batched: Any, function: Any, summed: Any) -> Any:
        goes_on = self._held[self._counter].stacked() >= 0
        results = self._added(batched, function, summed, goes_on)
        counter = results[self._counter]
        found = list(
            map(
                functools.partial(_chosen, goes_on),
                results,
                self._held,
                function.inputs,
                function.outputs,
            )
        )
        found[self._counter] = counter
        return found


def _chosen(goes_on: Any, after: Any, before: Any, inner: Any, result: Any) -> Any:
    """A variable after a round: as it was for replicas for which there is none."""
    if unequal_rounds.root(result) is inner:
        return before
    if inner.dtype == tf.variant or isinstance(after, batched_values.ReplicaSum):
        return after
    if isinstance(before, batched_values.ReplicaSum):
        return batched_values.ReplicaSum(divergent_values.counted(goes_on, after).total())
    after = batched_values.converted(after, before)
    if not batched_values.is_like(after, before):
        raise batched_values.NotBatchable("a variable of the loop changes its shape")
    return before.like(divergent_values.chosen(goes_on, after, before).tensors())


def _condition(value: Any) -> Any:
    return divergent_values.stacked(value, "the condition of the loop cannot be batched")
