"""Builds batched branches and loops: their functions, and the op that calls these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.tfcompat import functions, made_ops, placed_graphs
from tpudist.virtual import explanations
from tpudist.virtual.vectorize.values import tensor_lists
from tpudist.virtual.vectorize.values.layouts import with_layout

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Operation


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
        self.record = explanations.Record()
        self._graph = placed_graphs.PlacedGraph("batched", graph.place)
        functions.add_library(function.graph, self._graph)
        with self._graph.building():
            self._inputs = [
                layout.placeholders(tensor) for layout, tensor in zip(layouts, function.inputs)
            ]
            self._graph.inputs = _tensors(self._inputs)
            self.outputs = self._results(graph, function, sums_only)

    def _results(self, graph: Any, function: Any, sums_only: Any) -> Any:
        return self._add_call(graph, function, sums_only)

    def _add_call(self, graph: Any, function: Any, sums_only: Any, active: Any = None) -> Any:
        """Adds the ops of `function`, called on the inputs; returns its batched outputs."""
        inner = graph.nested(sums_only, self._graph, active)
        inner.add_function(function, self._inputs)
        self.record.add(inner.record)
        return inner.values_of(function.outputs)

    def finish(self, layouts: Any) -> Any:
        """Converts the outputs to `layouts`; returns the function, as attributes take it."""
        with self._graph.building():
            outputs = map(with_layout, self.outputs, layouts)
            self.tensors = self._graph.outputs = _tensors(outputs)
        tensor_lists.check_fed(self._graph)
        self._graph.control_outputs = [  # reads too: ops after the call must wait for them
            op for op in self._graph.get_operations() if functions.is_stateful(op)
        ]
        return functions.make(self._graph, noinline=False)


def add_branches(op: Operation, inputs: Any, batched_branches: Any, layouts: Any) -> Any:
    """Adds an If or Case op whose branches are batched.

    Args:
      op: the If or Case op of the trace.
      inputs: its batched inputs; the first one, the condition, is uniform.
      batched_branches: a `BatchedFunction` for each branch.
      layouts: the layouts of the outputs.

    Returns:
      Its batched outputs.
    """
    attribute_values = [branch.finish(layouts) for branch in batched_branches]
    attributes = (
        dict(zip(("then_branch", "else_branch"), attribute_values))
        if "If" in op.type
        else {"branches": attribute_values}
    )
    condition, tensors = [inputs[0].value], _tensors(inputs[1:])
    output_tensors = batched_branches[0].tensors
    call = made_ops.create_with_functions(
        op, condition, tensors, output_tensors, ("Tin", "Tout"), attributes
    )
    return _outputs(op, call, layouts)


def add_loop(
    op: Operation, inputs: Any, layouts: Any, condition: Any, body: BatchedFunction
) -> Any:
    """Adds a While op whose condition and body are batched.

    Args:
      op: the While op of the trace.
      inputs: its batched inputs.
      layouts: the layouts of the loop's variables.
      condition, body: the two functions, each a `BatchedFunction`.

    Returns:
      Its batched outputs.
    """
    attributes = {"body": body.finish(layouts), "cond": condition.finish(condition.outputs)}
    entering = _tensors(map(with_layout, inputs, layouts))
    call = made_ops.create_with_functions(op, [], entering, body.tensors, ("T", "T"), attributes)
    return _outputs(op, call, layouts)


def _tensors(values: Any) -> list[Any]:
    return [tensor for value in values for tensor in value.tensors()]


def _outputs(op: Operation, call: Any, layouts: Any) -> Any:
    """The batched outputs of `call`, the batched copy of `op`."""
    values, outputs = [], list(call.outputs)
    for layout, tensor in zip(layouts, op.outputs):
        num_tensors = layout.num_tensors
        for handle in outputs[:num_tensors] if functions.is_resource(tensor) else ():
            functions.copy_handle_data(tensor, handle)
        values.append(layout.with_tensors(outputs[:num_tensors]))
        outputs = outputs[num_tensors:]
    return values
