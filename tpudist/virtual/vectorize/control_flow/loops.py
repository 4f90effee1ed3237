"""Batches loops in which all replicas do the same number of rounds.

The body of a loop is batched repeatedly, until the layout of each of its variables is a fixed
point: the first layout is that of the loop's input, the last one can hold both the input and
the result of a round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.vectorize import replica_sums
from tpudist.virtual.vectorize.control_flow import called_functions
from tpudist.virtual.vectorize.control_flow.called_functions import BatchedFunction
from tpudist.virtual.vectorize.values import batched_values
from tpudist.virtual.vectorize.values.layouts import common_layout, same_layout

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation
    from tpudist.virtual.annotations import Loop


#: A variable changes its layout at most five times; a bound for several variables.
_MAX_ITERATIONS = 12


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
    body, layouts = _fixed_point(
        graph, loop, inputs, replica_sums.in_function(loop.body, sum_variables)
    )
    condition = BatchedFunction(graph, loop.condition, layouts, IdentityMap())
    if not isinstance(condition.outputs[0], batched_values.Uniform):
        raise batched_values.NotBatchable("replicas leave the loop at different times")
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
