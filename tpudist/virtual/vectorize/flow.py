"""Batches branches that all replicas take alike, and the functions of branches and loops.

Each function is batched in a graph of its own; for loops see :mod:`loops`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from tpudist.tfcompat import functions, made_ops, placed_graphs
from tpudist.virtual.trace import tpu_numbers
from tpudist.virtual.vectorize import called_functions
from tpudist.virtual.vectorize.values.batched_values import NotBatchable, Uniform, tensors_of
from tpudist.virtual.vectorize.values.layouts import (
    Optionals,
    check_fed,
    common_layout,
    with_layout,
)

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import Operation, TracedFunction
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


NOT_KNOWN = "the function is compiled by XLA or not known"


class BatchedFunction:
    """A batched function of a branch or loop, in a graph of its own, called by another `graph`.

    It has further inputs like those in `more`, of which the first is the mask of active replicas.
    `inner` is the `BatchedGraph` of its ops, `tensors` those of `outputs`, once it is finished.
    """

    def __init__(
        self, graph: Any, function: Any, layouts: Any, sums_only: object, more: Any = ()
    ) -> None:
        self.graph = placed_graphs.PlacedGraph("batched", graph.place)
        functions.add_library(function.graph, self.graph)
        with self.graph.building():
            self.inputs = [
                layout.placeholders(tensor) for layout, tensor in zip(layouts, function.inputs)
            ]
            self.more = [functions.placeholder_like(tensor) for tensor in more]
            self.graph.inputs = tensors_of(self.inputs) + self.more
            self.inner = graph.nested(sums_only, self.graph)
            self.inner.active = self.more[0] if self.more else None
            self.inner.add_function(function, self.inputs)
            self.outputs = self.inner.values_of(function.outputs)

    def finish(self, layouts: Any, more: Any = ()) -> TracedFunction:
        """Converts the outputs to `layouts`; returns the function, as attributes take it."""
        with self.graph.building():
            outputs = map(with_layout, self.outputs, layouts)
            self.tensors = self.graph.outputs = tensors_of(outputs) + list(more)
        return finished(self.graph)


def finished(graph: Any) -> TracedFunction:
    """The function of a FuncGraph that has its inputs, ops and outputs."""
    check_fed(graph)
    tpu_numbers.round_operands(graph)
    graph.control_outputs = [  # reads too: ops after the call must wait for them
        op for op in graph.get_operations() if functions.is_stateful(op)
    ]
    return functions.make(graph, noinline=False)


def branches(
    graph: Any, op: Operation, inputs: Any, output_sums: Any
) -> Sequence[BatchedValue] | None:
    """The batched outputs of an If or Case op; of those with `output_sums` the sum is needed."""
    called, condition = called_functions.branches(op), inputs[0]
    if called is None:
        raise NotBatchable(NOT_KNOWN)
    if not isinstance(condition, Uniform):
        raise NotBatchable("replicas take different branches")
    batched = []
    for function in called:
        sums_only = called_functions.summed_in(function, output_sums)
        batched.append(BatchedFunction(graph, function, inputs[1:], sums_only))
    results = list(zip(*[branch.outputs for branch in batched]))
    layouts = [functools.reduce(common_layout, values) for values in results]
    made: Any = [branch.finish(layouts) for branch in batched]
    is_if, taken = "If" in op.type, tensors_of(inputs[1:])
    attributes = dict(zip(("then_branch", "else_branch"), made)) if is_if else {"branches": made}
    call = made_ops.create_with_functions(
        op, [condition.value], taken, batched[0].tensors, ("Tin", "Tout"), attributes
    )
    for branch in batched:
        graph.record.add(branch.inner.record)
    outputs = list(outputs_of(op, call, layouts))
    for i, value in enumerate(outputs):
        if isinstance(value, Optionals):
            outputs[i] = value.as_branch_output(condition.value, results[i])
    return outputs


def outputs_of(op: Operation, call: Any, layouts: Any) -> Sequence[BatchedValue]:
    """The batched outputs of `call`, the batched copy of `op`."""
    values, outputs = [], list(call.outputs)
    for layout, tensor in zip(layouts, op.outputs):
        num_tensors = layout.num_tensors
        for handle in outputs[:num_tensors] if functions.is_resource(tensor) else ():
            functions.copy_handle_data(tensor, handle)
        values.append(layout.with_tensors(outputs[:num_tensors]))
        outputs = outputs[num_tensors:]
    return values
