"""Batches loops, also where replicas do unequal numbers of rounds.

The body of a loop is batched repeatedly, until the layout of each of its variables is a fixed
point: the first layout is that of the loop's input, the last one can hold both the input and
the result of a round.

A divergent loop runs until the last replica is done. Each round is computed for all replicas, and
the variables of those that are done keep their values. So no op of a round may fail
(:mod:`divergent_values`).

A loop pushes values to lists for its gradient, whose loop pops them in reverse. There the
replicas begin at different times and end together: until a replica begins, its variables keep
their values, and it adds nothing to sums over the replicas.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable

import tensorflow as tf

from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.vectorize import replica_sums
from tpudist.virtual.vectorize.control_flow import (
    called_functions,
    divergent_values,
    unequal_rounds,
)
from tpudist.virtual.vectorize.control_flow.called_functions import BatchedFunction
from tpudist.virtual.vectorize.values import batched_values
from tpudist.virtual.vectorize.values.layouts import common_layout, same_layout, with_layout

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor
    from tpudist.virtual.annotations import Loop


_SITUATION = "replicas leave the loop at different times"

#: A variable changes its layout at most five times; a bound for several variables.
_MAX_ITERATIONS = 12

#: A variable of a divergent loop has at most three layouts.
_MAX_DIVERGENT_ITERATIONS = 6


def batch(graph: Any, op: Operation, inputs: Any, output_sums: Any) -> Any:
    """The batched outputs of `op`, a While op of the trace that has no effect.

    Args:
      graph: the `batched_graph.BatchedGraph` that gets the op.
      op: the op.
      inputs: its batched inputs.
      output_sums: for each output, whether only the sum over the replicas is needed.

    Raises:
      NotBatchable: `op` cannot be batched.
    """
    loop = called_functions.loop(op)
    if loop is None:
        raise batched_values.NotBatchable("the function is compiled by XLA or not known")
    sum_variables = replica_sums.of_loop(loop, output_sums)
    counter = unequal_rounds.counter_and_rounds(loop, inputs)
    if counter is not None:
        return _batch_gradient(graph, op, inputs, loop, counter, sum_variables)
    body, layouts = _fixed_point(
        graph, loop, inputs, replica_sums.in_function(loop.body, sum_variables)
    )
    condition = BatchedFunction(graph, loop.condition, layouts, IdentityMap())
    if not isinstance(condition.outputs[0], batched_values.Uniform):
        return _batch_divergent(graph, op, inputs, loop)
    outputs = called_functions.add_loop(op, inputs, layouts, condition, body)
    graph.record.add(body.record)
    return outputs


def _fixed_point(graph: Any, loop: Loop, inputs: Any, sums_only: Any) -> tuple[Any, ...]:
    """The `BatchedFunction` of one round, and the layouts of the loop's variables."""
    layouts = list(inputs)
    for _ in range(_MAX_ITERATIONS):
        body = BatchedFunction(graph, loop.body, layouts, sums_only)
        common = [common_layout(one, other) for one, other in zip(layouts, body.outputs)]
        if all(same_layout(one, other) for one, other in zip(layouts, common)):
            return body, layouts
        layouts = common
    raise batched_values.NotBatchable("the loop does not settle")


# Divergent loops.


def _batch_divergent(graph: Any, op: Operation, inputs: Any, loop: Loop) -> Any:
    """The batched outputs of `op`, whose condition differs between replicas."""
    divergent_values.check_cannot_fail(loop, _SITUATION, [unequal_rounds.PUSH])
    counter_and_lists = unequal_rounds.counter_and_lists(loop, inputs)
    outputs = _divergent(graph, op, inputs, loop, functools.partial(_Round, loop.condition))
    return unequal_rounds.mark_for_gradient(outputs, *counter_and_lists)


def _batch_gradient(
    graph: Any, op: Operation, inputs: Any, loop: Loop, counter_and_rounds: Any, sum_variables: Any
) -> Any:
    """The batched outputs of `op`, the gradient of a divergent loop.

    Args:
      graph, op, inputs: see :func:`batch`.
      loop: the `called_functions.Loop` of `op`.
      counter_and_rounds: from `unequal_rounds.counter_and_rounds`.
      sum_variables: for each variable of the loop, whether only its sum over the replicas is
        needed.
    """
    divergent_values.check_cannot_fail(loop, _SITUATION, [unequal_rounds.POP])
    shifted_inputs = unequal_rounds.gradient_inputs(loop, inputs, *counter_and_rounds)
    is_accumulator = [unequal_rounds.is_accumulator(loop.body, i) for i in range(len(inputs))]
    sum_variables = replica_sums.of_loop(
        loop, [one and other for one, other in zip(sum_variables, is_accumulator)]
    )
    sums_only = replica_sums.in_function(loop.body, sum_variables)
    make_round = functools.partial(_GradientRound, counter_and_rounds[0], sums_only)
    return _divergent(graph, op, shifted_inputs, loop, make_round)


def _divergent(
    graph: Any, op: Operation, inputs: Any, loop: Loop, make_round: Callable[..., Any]
) -> Any:
    layouts = [
        value if unequal_rounds.is_invariant(loop, i) else _initial_layout(value, tensor)
        for i, (value, tensor) in enumerate(zip(inputs, loop.body.inputs))
    ]
    for _ in range(_MAX_DIVERGENT_ITERATIONS):
        body = make_round(graph, loop, layouts)
        if all(map(same_layout, layouts, body.outputs)):
            condition = _AnyCondition(graph, loop.condition, layouts, IdentityMap())
            outputs = called_functions.add_loop(op, inputs, layouts, condition, body)
            graph.record.add(body.record)
            return outputs
        layouts = list(map(common_layout, layouts, body.outputs))
    raise batched_values.NotBatchable(_SITUATION)


def _initial_layout(value: Any, tensor: Tensor) -> Any:
    """A batched value with the first layout of a variable that rounds change."""
    if tensor.dtype == tf.variant:
        return value
    shape = value.static_shape(tensor)
    if (
        isinstance(value, (batched_values.Uniform, batched_values.Batch))
        and shape.is_fully_defined()
        and tensor.dtype != tf.resource
    ):
        return batched_values.Batch(value.count, shape.as_list())
    raise batched_values.NotBatchable(_SITUATION)


class _AnyCondition(BatchedFunction):
    """The condition of the batched loop: whether any replica does another round."""

    def _results(self, graph: Any, function: Any, sums_only: Any) -> list[Any]:
        (continues,) = self._add_call(graph, function, sums_only)
        return [batched_values.Uniform(graph.count, tf.reduce_any(_stacked_condition(continues)))]


class _Round(BatchedFunction):
    """One round, which changes the variables of the replicas that are not done."""

    def __init__(self, condition: Any, graph: Any, loop: Loop, layouts: Any) -> None:
        self._condition = condition
        super().__init__(graph, loop.body, layouts, IdentityMap())

    def _results(self, graph: Any, function: Any, sums_only: Any) -> Any:
        (continues,) = self._add_call(graph, self._condition, sums_only)
        results = self._add_call(graph, function, sums_only)
        select = functools.partial(_select, _stacked_condition(continues))
        return list(map(select, results, self._inputs, function.inputs, function.outputs))


class _GradientRound(BatchedFunction):
    """One round of a gradient, which changes the variables of replicas that have begun."""

    def __init__(self, counter: Any, sums_only: Any, graph: Any, loop: Loop, layouts: Any) -> None:
        self._counter = counter
        super().__init__(graph, loop.body, layouts, sums_only)

    def _results(self, graph: Any, function: Any, sums_only: Any) -> Any:
        has_begun = self._inputs[self._counter].stacked() >= 0
        results = self._add_call(graph, function, sums_only, has_begun)
        counter = results[self._counter]
        variables = list(
            map(
                functools.partial(_select, has_begun),
                results,
                self._inputs,
                function.inputs,
                function.outputs,
            )
        )
        variables[self._counter] = counter
        return variables


def _select(active: Any, after: Any, before: Any, variable: Any, result: Any) -> Any:
    """The value of a variable after a round: `after` for active replicas, else `before`."""
    if unequal_rounds.root(result) is variable:
        return before
    if variable.dtype == tf.variant or isinstance(after, batched_values.ReplicaSum):
        return after
    if isinstance(before, batched_values.ReplicaSum):
        return batched_values.ReplicaSum(divergent_values.only_active(active, after).total())
    after = with_layout(after, before)
    if not same_layout(after, before):
        raise batched_values.NotBatchable("a variable of the loop changes its shape")
    return before.with_tensors(divergent_values.select(active, after, before).tensors())


def _stacked_condition(value: Any) -> Any:
    return divergent_values.stacked(value, "the condition of the loop cannot be batched")
