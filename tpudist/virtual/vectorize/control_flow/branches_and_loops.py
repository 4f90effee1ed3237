"""Batches the branches, loops and calls of a trace, and the ops of their functions.

The body of a loop is batched repeatedly, until the layout of each of its variables is a fixed
point: the first layout is that of the loop's input, the last one can hold both the input and
the result of a round.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.vectorize import replica_sums
from tpudist.virtual.vectorize.control_flow import (
    batched_functions,
    called_functions,
    divergent_branches,
    divergent_loops,
    unequal_rounds,
)
from tpudist.virtual.vectorize.control_flow.batched_functions import BatchedFunction
from tpudist.virtual.vectorize.values import batched_values, optionals

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Operation
    from tpudist.virtual.annotations import Loop


#: A variable changes its layout at most five times; a bound for several variables.
_MAX_ITERATIONS = 12


def batch(graph: Any, op: Operation, inputs: Any, output_sums: Any) -> Any:
    """The batched outputs of `op`, a branch, loop or call.

    Args:
      graph: the `batched_graph.BatchedGraph` that gets the ops.
      op: an op of the trace that has no effect.
      inputs: its batched inputs.
      output_sums: for each output, whether only the sum over the replicas is needed.

    Raises:
      NotBatchable: `op` cannot be batched.
    """
    if op.type in called_functions.CALLS:
        return _call(graph, op, inputs, output_sums)
    if op.type in called_functions.LOOPS:
        return _loop(graph, op, inputs, output_sums)
    return _branches(graph, op, inputs, output_sums)


def _call(graph: Any, op: Operation, inputs: Any, output_sums: Any) -> Any:
    function = called_functions.function(op)
    if function is None:
        raise batched_values.NotBatchable("the function is compiled by XLA or not known")
    inner = graph.nested(replica_sums.in_function(function, output_sums))
    inner.add_function(function, inputs)
    graph.record.add(inner.record)
    return inner.values_of(function.outputs)


def _branches(graph: Any, op: Operation, inputs: Any, output_sums: Any) -> Any:
    branches = called_functions.branches(op)
    if branches is None:
        raise batched_values.NotBatchable("the function is compiled by XLA or not known")
    if not isinstance(inputs[0], batched_values.Uniform):
        return divergent_branches.batch(graph, op, inputs, branches)
    batched_branches = [
        BatchedFunction(
            graph, function, inputs[1:], replica_sums.in_function(function, output_sums)
        )
        for function in branches
    ]
    results = zip(*[branch.outputs for branch in batched_branches])
    layouts = [functools.reduce(batched_values.common_layout, values) for values in results]
    outputs = batched_functions.add_branches(op, inputs, batched_branches, layouts)
    outputs = [
        value.as_branch_output(inputs[0].value, [branch.outputs[i] for branch in batched_branches])
        if isinstance(value, optionals.Optionals)
        else value
        for i, value in enumerate(outputs)
    ]
    for branch in batched_branches:
        graph.record.add(branch.record)
    return outputs


def _loop(graph: Any, op: Operation, inputs: Any, output_sums: Any) -> Any:
    loop = called_functions.loop(op)
    if loop is None:
        raise batched_values.NotBatchable("the function is compiled by XLA or not known")
    sum_variables = replica_sums.of_loop(loop, output_sums)
    counter = unequal_rounds.counter_and_rounds(loop, inputs)
    if counter is not None:
        return divergent_loops.batch_gradient(graph, op, inputs, loop, counter, sum_variables)
    body, layouts = _fixed_point(
        graph, loop, inputs, replica_sums.in_function(loop.body, sum_variables)
    )
    condition = BatchedFunction(graph, loop.condition, layouts, IdentityMap())
    if not isinstance(condition.outputs[0], batched_values.Uniform):
        return divergent_loops.batch(graph, op, inputs, loop)
    outputs = batched_functions.add_loop(op, inputs, layouts, condition, body)
    graph.record.add(body.record)
    return outputs


def _fixed_point(graph: Any, loop: Loop, inputs: Any, sums_only: Any) -> tuple[Any, ...]:
    """The `BatchedFunction` of one round, and the layouts of the loop's variables."""
    layouts = list(inputs)
    for _ in range(_MAX_ITERATIONS):
        body = BatchedFunction(graph, loop.body, layouts, sums_only)
        joined = [
            batched_values.common_layout(one, other) for one, other in zip(layouts, body.outputs)
        ]
        if all(batched_values.same_layout(one, other) for one, other in zip(layouts, joined)):
            return body, layouts
        layouts = joined
    raise batched_values.NotBatchable("the loop does not settle")
