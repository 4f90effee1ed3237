"""Batches divergent branches: computes all of them, and selects each replica's results.

The ops of all branches are inlined and computed for all replicas, so no op of a branch may fail
(:mod:`divergent_values`).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.vectorize.control_flow import divergent_values
from tpudist.virtual.vectorize.values import batched_values, optionals

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Operation, Tensor


_SITUATION = "replicas take different branches"

#: Ops too expensive to compute for replicas that do not take their branch.
_EXPENSIVE = ("BatchMatMulV2", "BatchMatMulV3", "MatMul") + divergent_values.CONVOLUTIONS


def batch(graph: Any, op: Operation, inputs: Any, branches: Any) -> Any:
    """The batched outputs of `op`, whose condition differs between replicas.

    Args:
      graph: the `batched_graph.BatchedGraph` that gets the ops.
      op: an If or Case op of the trace that has no effect.
      inputs: its batched inputs.
      branches: its `called_functions.Function` objects.

    Raises:
      NotBatchable: `op` cannot be batched.
    """
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
