"""Batches loops.

The body of a loop is batched until the layout of each variable can hold both the input and the
result of a round. Most often it is found at once, by what a round makes different on each replica.
Loops that replicas leave at different times are in :mod:`masked_loops`.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.tfcompat import graphs, made_ops
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.vectorize import called_functions, flow, masked_loops
from tpudist.virtual.vectorize.flow import BatchedFunction, outputs_of
from tpudist.virtual.vectorize.values.batched_values import (
    Batch,
    NotBatchable,
    ReplicaSum,
    Uniform,
    tensors_of,
)
from tpudist.virtual.vectorize.values.layouts import (
    StackedList,
    common_layout,
    same_layout,
    with_layout,
)

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import Operation, Tensor
    from tpudist.virtual.vectorize.called_functions import Function, Loop
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


#: Ops of which some outputs are alike on all replicas, whatever they take.
_ALIKE = (
    graphs.LOOPS
    + graphs.BRANCHES
    + called_functions.CALLS
    + ("Rank", "Shape", "ShapeN", "Size", "TensorListElementShape", "TensorListLength")
)

#: A variable changes its layout at most five times; a bound for several variables.
_MAX_ITERATIONS = 12


def loop(graph: Any, op: Operation, inputs: Any, output_sums: Any) -> Sequence[BatchedValue]:
    """The batched outputs of `op`, a While op of the trace without effect; see `flow.branches`."""
    called = called_functions.loop(op)
    if called is None:
        raise NotBatchable(flow.NOT_KNOWN)
    sums = called_functions.summed_in(
        called.body, called_functions.summed_variables(called, output_sums)
    )
    span = masked_loops.span(graph, op, called, inputs)
    if span is not None:
        inputs = span.inputs
    masked = masked_loops.MaskedLoop(graph, op, called, inputs, span)
    layouts = _expected_layouts(graph.count, called.body, inputs, sums)
    condition = BatchedFunction(graph, called.condition, layouts, IdentityMap())
    if span is None and isinstance(condition.outputs[0], Uniform):
        body, settled = _fixed_point(graph, called, layouts, sums, ())
        if settled is not layouts:
            layouts = settled
            condition = BatchedFunction(graph, called.condition, layouts, IdentityMap())
        if isinstance(condition.outputs[0], Uniform):  # all replicas leave it at once
            made = {"body": body.finish(layouts), "cond": condition.finish(condition.outputs)}
            entering = tensors_of(map(with_layout, inputs, layouts))
            call = made_ops.create_with_functions(op, [], entering, body.tensors, ("T", "T"), made)
            graph.record.add(body.inner.record)
            return outputs_of(op, call, layouts)
    begun = masked.begin()
    body, layouts = _fixed_point(graph, called, layouts, sums, begun)
    return masked.outputs(body, layouts, begun)


def _expected_layouts(count: int, body: Function, inputs: Any, sums_only: object) -> list[Any]:
    """The layouts to begin with: of what a round makes different on each replica, stacked."""
    layouts = list(inputs)
    while True:
        pairs = zip(body.inputs, layouts)
        differing = IdentityMap.of(t for t, layout in pairs if not isinstance(layout, Uniform))
        for op in body.body:
            if op.type not in _ALIKE and any(map(differing.__contains__, op.inputs)):
                differing.update((tensor, tensor) for tensor in op.outputs)
        expected = [
            _expected(count, one, result, layout, result in differing, sums_only)
            for one, result, layout in zip(body.inputs, body.outputs, layouts)
        ]
        if all(map(operator.is_, expected, layouts)):
            return layouts
        layouts = expected


def _expected(
    count: int, tensor: Tensor, result: Tensor, layout: Any, differs: bool, sums_only: Any
) -> Any:
    if not differs or not isinstance(layout, Uniform):
        return layout
    if tensor in sums_only:
        return ReplicaSum()
    source = masked_loops.source_of(result).op
    if source.type in masked_loops.WRITES:
        element = source.inputs[-1]
        if element.shape.is_fully_defined():
            return StackedList(count, element.shape.as_list(), element.dtype)
    elif tensor.dtype not in (tf.variant, tf.resource) and tensor.shape.is_fully_defined():
        return Batch(count, tensor.shape.as_list())
    return layout


def _fixed_point(
    graph: Any, called: Loop, layouts: Any, sums_only: object, more: object
) -> tuple[Any, ...]:
    """The `BatchedFunction` of one round, and the layouts of the loop's variables."""
    for _ in range(_MAX_ITERATIONS):
        body = BatchedFunction(graph, called.body, layouts, sums_only, more)
        common = [common_layout(one, other) for one, other in zip(layouts, body.outputs)]
        if all(same_layout(one, other) for one, other in zip(layouts, common)):
            return body, layouts
        layouts = common
    raise NotBatchable("the loop does not settle")
