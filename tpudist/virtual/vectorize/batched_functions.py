"""Builds the functions of a branch or loop for all replicas, and the op that calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.tfcompat import functions, made_ops, placed_graphs
from tpudist.virtual import explanations
from tpudist.virtual.vectorize import batched_values, tensor_lists

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Operation


class Part:
    """A function of a branch or loop, for all replicas, in a graph of its own.

    Args:
      batched: the `BatchedGraph` that it is called in.
      function: the `called_functions.Function`.
      given: the batched value of each of its inputs.
      summed: the tensors of which only the sum over the replicas is needed.

    Attributes:
      outputs: the batched values of its outputs.
      tensors: the tensors that hold them, once it is finished.
      record: the `explanations.Record` of its ops.
    """

    def __init__(self, batched: Any, function: Any, given: Any, summed: Any) -> None:
        self.record = explanations.Record()
        self._graph = placed_graphs.PlacedGraph("batched", batched.place)
        functions.add_library(function.graph, self._graph)
        with self._graph.building():
            self._held = [outline.held(inner) for outline, inner in zip(given, function.inputs)]
            self._graph.inputs = _tensors(self._held)
            self.outputs = self._results(batched, function, summed)

    def _results(self, batched: Any, function: Any, summed: Any) -> Any:
        return self._added(batched, function, summed)

    def _added(self, batched: Any, function: Any, summed: Any, counted: Any = None) -> Any:
        """The batched values of what `function` gives for what is held."""
        inner = batched.inside(summed, self._graph, counted)
        inner.add_function(function, self._held)
        self.record.add(inner.record)
        return inner.held(function.outputs)

    def finish(self, outlines: Any) -> Any:
        """Holds the outputs as `outlines` are; returns the function for an attribute."""
        with self._graph.building():
            made = map(batched_values.converted, self.outputs, outlines)
            self.tensors = self._graph.outputs = _tensors(made)
        tensor_lists.check_fed(self._graph)
        self._graph.control_outputs = [  # a read too: what is done after the call waits for it
            op for op in self._graph.get_operations() if functions.is_stateful(op)
        ]
        return functions.make(self._graph, noinline=False)


def branches(op: Operation, given: Any, parts: Any, outlines: Any) -> Any:
    """Adds a branch.

    Args:
      op: the If or Case op of the trace.
      given: the batched values of its inputs; the first, its condition, is uniform.
      parts: a `Part` for each branch.
      outlines: how the outputs are held.

    Returns:
      The batched values of its outputs.
    """
    made = [part.finish(outlines) for part in parts]
    names = (
        dict(zip(("then_branch", "else_branch"), made)) if "If" in op.type else {"branches": made}
    )
    first, tensors = [given[0].value], _tensors(given[1:])
    like = parts[0].tensors
    made = made_ops.create_with_functions(op, first, tensors, like, ("Tin", "Tout"), names)
    return _outputs(op, made, outlines)


def loop(op: Operation, given: Any, held: Any, condition: Any, body: Part) -> Any:
    """Adds a loop.

    Args:
      op: the While op of the trace.
      given: the batched values of its inputs.
      held: how its variables are held.
      condition, body: a `Part` each.

    Returns:
      The batched values of its outputs.
    """
    names = {"body": body.finish(held), "cond": condition.finish(condition.outputs)}
    entering = _tensors(map(batched_values.converted, given, held))
    made = made_ops.create_with_functions(op, [], entering, body.tensors, ("T", "T"), names)
    return _outputs(op, made, held)


def _tensors(values: Any) -> list[Any]:
    return [tensor for value in values for tensor in value.tensors()]


def _outputs(op: Operation, made: Any, outlines: Any) -> Any:
    found, outputs = [], list(made.outputs)
    for outline, tensor in zip(outlines, op.outputs):
        count = outline.width
        for held in outputs[:count] if functions.is_resource(tensor) else ():
            functions.copy_handle_data(tensor, held)
        found.append(outline.like(outputs[:count]))
        outputs = outputs[count:]
    return found
