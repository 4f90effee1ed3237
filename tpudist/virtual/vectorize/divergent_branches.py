"""Divergent branches: replicas take different ones, so all are computed and each chooses.

All are computed for all replicas, without a call, and each replica's is chosen. So they
must be branches that cannot fail (:mod:`divergent_values`).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.vectorize import batched_values, divergent_values, optionals

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Operation, Tensor


_WHAT = "replicas take different branches"

#: Ops that are rather done for those alone that take the branch.
_COSTLY = ("BatchMatMulV2", "BatchMatMulV3", "MatMul") + divergent_values.CONVOLUTIONS


def batch(batched: Any, op: Operation, given: Any, branches: Any) -> Any:
    """The batched values of the outputs of `op`, whose replicas' conditions differ.

    Args:
      batched: the `batched_graph.BatchedGraph` that gets the ops.
      op: an If or Case op of the trace that has no effect.
      given: the batched value of each of its inputs.
      branches: its `called_functions.Function` objects.

    Raises:
      NotBatchable: it can not be batched.
    """
    if op.inputs[0].dtype not in (tf.bool, tf.int32) or op.inputs[0].shape.rank != 0:
        raise batched_values.NotBatchable(_WHAT)
    if any(isinstance(value, optionals.Optionals) for value in given):
        raise batched_values.NotBatchable("%s, and take what others have packed" % _WHAT)
    divergent_values.check(branches, _WHAT)
    costly = [op.type for branch in branches for op in branch.body if op.type in _COSTLY]
    if costly:
        raise batched_values.NotBatchable("%s, and %s for all costs more" % (_WHAT, costly[0]))
    condition, taken = (
        op.inputs[0],
        _taken(divergent_values.stacked(given[0], _WHAT), len(branches)),
    )
    packed = [_are_packed(each) for each in zip(*[branch.outputs for branch in branches])]
    inners = [batched.inside(IdentityMap()) for _ in branches]
    for i, (inner, branch) in enumerate(zip(inners, branches)):
        inner.add_function(branch, [_of_branch(value, i, condition) for value in given[1:]])
    results = [inner.held(branch.outputs) for inner, branch in zip(inners, branches)]
    made = [
        optionals.ByBranch(condition, taken, values)
        if packed[i]
        else _chosen(taken, _alike(values, [branch.outputs[i] for branch in branches]))
        for i, values in enumerate(zip(*results))
    ]
    for inner in inners:
        batched.record.add(inner.record)
    return made


def _are_packed(tensors: Sequence[Tensor]) -> bool:
    """Whether the branches pack something for their gradients in a place of their outputs."""
    if all(tensor.op.type in (optionals.FULL, optionals.EMPTY) for tensor in tensors):
        return True
    if any(tensor.dtype in (tf.resource, tf.variant) for tensor in tensors):
        raise batched_values.NotBatchable("%s, which give resources or lists" % _WHAT)
    return False


def _of_branch(value: Any, index: int, condition: Any) -> Any:
    is_packed = isinstance(value, optionals.ByBranch)
    return value.of_branch(index, condition) if is_packed else value


def _taken(condition: Any, number: int) -> list[Any]:
    """For each branch but the last, which of the replicas take it."""
    if condition.dtype == tf.bool:
        return [condition]
    return [tf.equal(condition, i) for i in range(number - 1)]


def _chosen(taken: Any, values: Any) -> Any:
    """What each replica gets of the results of all branches."""
    pairs = reversed(list(zip(taken, values)))
    return functools.reduce(
        lambda rest, pair: divergent_values.chosen(pair[0], pair[1], rest), pairs, values[-1]
    )


def _alike(values: Any, tensors: Sequence[Tensor]) -> Any:
    """The results of all branches as `Batch` objects of one shape."""
    values = [_batch(value, tensor) for value, tensor in zip(values, tensors)]
    if any(value.shape != values[0].shape for value in values):
        raise batched_values.NotBatchable("%s, which give other shapes" % _WHAT)
    return values


def _batch(value: Any, tensor: Tensor) -> Any:
    if isinstance(value, batched_values.Batch):
        return value
    shape = value.static_shape(tensor)
    if not shape.is_fully_defined():
        raise batched_values.NotBatchable("%s, and a shape is known only when it runs" % _WHAT)
    stacked = divergent_values.stacked(value, _WHAT)
    return batched_values.Batch(value.count, shape.as_list(), stacked=stacked)
