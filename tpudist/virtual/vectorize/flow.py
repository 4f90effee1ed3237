"""Batches branches and loops, and the ops in them, where all replicas go the same way.

The functions of a branch or loop are batched each, in a graph of its own. The body of a loop is
batched repeatedly, until the layout of each of its variables is a fixed point: the first layout is
that of the loop's input, the last one can hold both the input and the result of a round.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from tpudist.tfcompat import functions, made_ops, placed_graphs
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.vectorize import called_functions, replica_sums
from tpudist.virtual.vectorize.values import optionals, tensor_lists
from tpudist.virtual.vectorize.values.batched_values import NotBatchable, Uniform
from tpudist.virtual.vectorize.values.layouts import common_layout, same_layout, with_layout

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import Operation, TracedFunction
    from tpudist.virtual.vectorize.called_functions import Loop
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


#: A variable changes its layout at most five times; a bound for several variables.
_MAX_ITERATIONS = 12

_NOT_KNOWN = "the function is compiled by XLA or not known"


class BatchedFunction:
    """A batched function of a branch or loop, in a graph of its own.

    Args:
      graph: the `BatchedGraph` that calls it.
      function: the `called_functions.Function`.
      layouts: for each input a batched value with the layout that it has.
      sums_only: the tensors of which only the sum over the replicas is needed.

    Attributes:
      outputs: the batched values of its outputs.
      tensors: the tensors of the outputs, once it is finished.
      record: the `explanations.Record` of how its ops are done.
    """

    def __init__(self, graph: Any, function: Any, layouts: Any, sums_only: Any) -> None:
        self._graph = placed_graphs.PlacedGraph("batched", graph.place)
        functions.add_library(function.graph, self._graph)
        with self._graph.building():
            inputs = [
                layout.placeholders(tensor) for layout, tensor in zip(layouts, function.inputs)
            ]
            self._graph.inputs = _tensors(inputs)
            inner = graph.nested(sums_only, self._graph)
            inner.add_function(function, inputs)
            self.outputs = inner.values_of(function.outputs)
        self.record = inner.record

    def finish(self, layouts: Any) -> TracedFunction:
        """Converts the outputs to `layouts`; returns the function, as attributes take it."""
        with self._graph.building():
            outputs = map(with_layout, self.outputs, layouts)
            self.tensors = self._graph.outputs = _tensors(outputs)
        tensor_lists.check_fed(self._graph)
        self._graph.control_outputs = [  # reads too: ops after the call must wait for them
            op for op in self._graph.get_operations() if functions.is_stateful(op)
        ]
        return functions.make(self._graph, noinline=False)


def branches(
    graph: Any, op: Operation, inputs: Any, output_sums: Any
) -> Sequence[BatchedValue] | None:
    """The batched outputs of `op`, an If or Case op of the trace that has no effect.

    Args:
      graph: the `batched_graph.BatchedGraph` that gets the ops.
      op: the op.
      inputs: its batched inputs.
      output_sums: for each output, whether only the sum over the replicas is needed.

    Raises:
      NotBatchable: `op` cannot be batched.
    """
    called, condition = called_functions.branches(op), inputs[0]
    if called is None:
        raise NotBatchable(_NOT_KNOWN)
    if not isinstance(condition, Uniform):
        raise NotBatchable("replicas take different branches")
    batched = [
        BatchedFunction(
            graph, function, inputs[1:], replica_sums.in_function(function, output_sums)
        )
        for function in called
    ]
    results = list(zip(*[branch.outputs for branch in batched]))
    layouts = [functools.reduce(common_layout, values) for values in results]
    made: Any = [branch.finish(layouts) for branch in batched]
    attributes = (
        dict(zip(("then_branch", "else_branch"), made)) if "If" in op.type else {"branches": made}
    )
    call = made_ops.create_with_functions(
        op, [condition.value], _tensors(inputs[1:]), batched[0].tensors, ("Tin", "Tout"), attributes
    )
    for branch in batched:
        graph.record.add(branch.record)
    return [
        value.as_branch_output(condition.value, values)
        if isinstance(value, optionals.Optionals)
        else value
        for value, values in zip(_outputs(op, call, layouts), results)
    ]


def loop(graph: Any, op: Operation, inputs: Any, output_sums: Any) -> Sequence[BatchedValue] | None:
    """The same of a While op; arguments and errors as of :func:`branches`."""
    called = called_functions.loop(op)
    if called is None:
        raise NotBatchable(_NOT_KNOWN)
    sums = replica_sums.in_function(called.body, replica_sums.of_loop(called, output_sums))
    body, layouts = _fixed_point(graph, called, inputs, sums)
    condition = BatchedFunction(graph, called.condition, layouts, IdentityMap())
    if not isinstance(condition.outputs[0], Uniform):
        raise NotBatchable("replicas leave the loop at different times")
    attributes = {"body": body.finish(layouts), "cond": condition.finish(condition.outputs)}
    entering = _tensors(map(with_layout, inputs, layouts))
    call = made_ops.create_with_functions(op, [], entering, body.tensors, ("T", "T"), attributes)
    graph.record.add(body.record)
    return _outputs(op, call, layouts)


def _fixed_point(graph: Any, called: Loop, inputs: Any, sums_only: Any) -> tuple[Any, ...]:
    """The `BatchedFunction` of one round, and the layouts of the loop's variables."""
    layouts = list(inputs)
    for _ in range(_MAX_ITERATIONS):
        body = BatchedFunction(graph, called.body, layouts, sums_only)
        common = [common_layout(one, other) for one, other in zip(layouts, body.outputs)]
        if all(same_layout(one, other) for one, other in zip(layouts, common)):
            return body, layouts
        layouts = common
    raise NotBatchable("the loop does not settle")


def _tensors(values: Any) -> list[Any]:
    return [tensor for value in values for tensor in value.tensors()]


def _outputs(op: Operation, call: Any, layouts: Any) -> Sequence[BatchedValue]:
    """The batched outputs of `call`, the batched copy of `op`."""
    values, outputs = [], list(call.outputs)
    for layout, tensor in zip(layouts, op.outputs):
        num_tensors = layout.num_tensors
        for handle in outputs[:num_tensors] if functions.is_resource(tensor) else ():
            functions.copy_handle_data(tensor, handle)
        values.append(layout.with_tensors(outputs[:num_tensors]))
        outputs = outputs[num_tensors:]
    return values
