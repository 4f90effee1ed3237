"""Batches branches, whose functions are batched each, where all replicas take the same one."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from tpudist.virtual.vectorize import replica_sums
from tpudist.virtual.vectorize.control_flow import called_functions
from tpudist.virtual.vectorize.control_flow.called_functions import BatchedFunction
from tpudist.virtual.vectorize.values import batched_values, optionals
from tpudist.virtual.vectorize.values.layouts import common_layout

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation


def batch(graph: Any, op: Operation, inputs: Any, output_sums: Any) -> Any:
    """The batched outputs of `op`, an If or Case op of the trace that has no effect.

    Args:
      graph: the `batched_graph.BatchedGraph` that gets the ops.
      op: the op.
      inputs: its batched inputs.
      output_sums: for each output, whether only the sum over the replicas is needed.

    Raises:
      NotBatchable: `op` cannot be batched.
    """
    branches = called_functions.branches(op)
    if branches is None:
        raise batched_values.NotBatchable("the function is compiled by XLA or not known")
    if not isinstance(inputs[0], batched_values.Uniform):
        raise batched_values.NotBatchable("replicas take different branches")
    batched_branches = [
        BatchedFunction(
            graph, function, inputs[1:], replica_sums.in_function(function, output_sums)
        )
        for function in branches
    ]
    results = zip(*[branch.outputs for branch in batched_branches])
    layouts = [functools.reduce(common_layout, values) for values in results]
    outputs = called_functions.add_branches(op, inputs, batched_branches, layouts)
    outputs = [
        value.as_branch_output(inputs[0].value, [branch.outputs[i] for branch in batched_branches])
        if isinstance(value, optionals.Optionals)
        else value
        for i, value in enumerate(outputs)
    ]
    for branch in batched_branches:
        graph.record.add(branch.record)
    return outputs
