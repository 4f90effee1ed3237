"""Batches branches, whose functions are batched each; also where replicas take different ones.

Of divergent branches all are inlined and computed for all replicas, and each replica's results
selected. So no op of them may fail (:mod:`divergent_values`).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.vectorize import replica_sums
from tpudist.virtual.vectorize.control_flow import called_functions, divergent_values
from tpudist.virtual.vectorize.control_flow.called_functions import BatchedFunction
from tpudist.virtual.vectorize.values import batched_values, optionals
from tpudist.virtual.vectorize.values.layouts import common_layout

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor


_SITUATION = "replicas take different branches"

#: Ops too expensive to compute for replicas that do not take their branch.
_EXPENSIVE = ("BatchMatMulV2", "BatchMatMulV3", "MatMul") + divergent_values.CONVOLUTIONS


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
        return _batch_divergent(graph, op, inputs, branches)
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


def _batch_divergent(graph: Any, op: Operation, inputs: Any, branches: Any) -> Any:
    """The batched outputs of `op`, whose condition differs between replicas."""
    if op.inputs[0].dtype not in (tf.bool, tf.int32) or op.inputs[0].shape.rank != 0:
        raise batched_values.NotBatchable(_SITUATION)
    if any(isinstance(value, optionals.Optionals) for value in inputs):
        raise batched_values.NotBatchable("%s, and take what others have packed" % _SITUATION)
    divergent_values.check_cannot_fail(branches, _SITUATION)
    expensive = [op.type for branch in branches for op in branch.body if op.type in _EXPENSIVE]
    if expensive:
        raise batched_values.NotBatchable(
            "%s, and %s for all costs more" % (_SITUATION, expensive[0])
        )
    condition = op.inputs[0]
    taken = _taken_by(divergent_values.stacked(inputs[0], _SITUATION), len(branches))
    is_packed = [_are_packed(tensors) for tensors in zip(*[branch.outputs for branch in branches])]
    branch_graphs = [graph.nested(IdentityMap()) for _ in branches]
    for i, (branch_graph, branch) in enumerate(zip(branch_graphs, branches)):
        branch_graph.add_function(branch, [_of_branch(value, i, condition) for value in inputs[1:]])
    results = [
        branch_graph.values_of(branch.outputs)
        for branch_graph, branch in zip(branch_graphs, branches)
    ]
    outputs = [
        optionals.BranchOptionals(condition, taken, values)
        if is_packed[i]
        else _select_branch(
            taken, _of_one_shape(values, [branch.outputs[i] for branch in branches])
        )
        for i, values in enumerate(zip(*results))
    ]
    for branch_graph in branch_graphs:
        graph.record.add(branch_graph.record)
    return outputs


def _are_packed(tensors: Sequence[Tensor]) -> bool:
    """Whether one output of all branches is an optional, packed for their gradients."""
    if all(tensor.op.type in (optionals.FULL, optionals.EMPTY) for tensor in tensors):
        return True
    if any(tensor.dtype in (tf.resource, tf.variant) for tensor in tensors):
        raise batched_values.NotBatchable("%s, which give resources or lists" % _SITUATION)
    return False


def _of_branch(value: Any, index: int, condition: Any) -> Any:
    """The input that branch `index` gets for the batched input `value`."""
    is_packed = isinstance(value, optionals.BranchOptionals)
    return value.of_branch(index, condition) if is_packed else value


def _taken_by(condition: Any, number: int) -> list[Any]:
    """For each branch but the last a bool tensor ``[N]``: which replicas take it."""
    if condition.dtype == tf.bool:
        return [condition]
    return [tf.equal(condition, i) for i in range(number - 1)]


def _select_branch(taken: Any, values: Any) -> Any:
    """For each replica the value of the branch that it takes."""
    pairs = reversed(list(zip(taken, values)))
    return functools.reduce(
        lambda rest, pair: divergent_values.select(pair[0], pair[1], rest), pairs, values[-1]
    )


def _of_one_shape(values: Any, tensors: Sequence[Tensor]) -> Any:
    """One output of all branches, as `Batch` objects of one shape."""
    values = [_as_batch(value, tensor) for value, tensor in zip(values, tensors)]
    if any(value.shape != values[0].shape for value in values):
        raise batched_values.NotBatchable("%s, which give other shapes" % _SITUATION)
    return values


def _as_batch(value: Any, tensor: Tensor) -> Any:
    """`value`, which stands for `tensor` of the trace, as a `Batch`."""
    if isinstance(value, batched_values.Batch):
        return value
    shape = value.static_shape(tensor)
    if not shape.is_fully_defined():
        raise batched_values.NotBatchable("%s, and a shape is known only when it runs" % _SITUATION)
    stacked = divergent_values.stacked(value, _SITUATION)
    return batched_values.Batch(value.count, shape.as_list(), stacked=stacked)
