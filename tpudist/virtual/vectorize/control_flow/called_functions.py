"""Functions that the branches, loops and calls of a trace call: reads them, and batches them.

:class:`BatchedFunction` has a graph of its own; :func:`add_branches` and :func:`add_loop` add the
op that calls such functions.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from tpudist.tfcompat import functions, graphs, made_ops, placed_graphs
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import dependencies
from tpudist.virtual.vectorize.values import tensor_lists
from tpudist.virtual.vectorize.values.layouts import with_layout

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Graph, Operation


LOOPS = ("While", "StatelessWhile")
BRANCHES = ("Case", "If", "StatelessCase", "StatelessIf")
CALLS = ("PartitionedCall", "StatefulPartitionedCall")

#: Loops and branches of at most this many ops, summed over the replicas, are inlined: a call
#: in each round would cost more than optimising a few ops once per replica.
_INLINED_OPS = 256

#: A function: its graph; its inputs, placeholders; the ops that its outputs need, in an order
#: in which they can run; its outputs.
Function = collections.namedtuple("Function", "graph inputs body outputs")

#: The two functions of a loop: whether there is another round, and one round.
Loop = collections.namedtuple("Loop", "condition body")


def function(op: Operation, attribute: str = "f") -> Any:
    """The `Function` in an attribute of `op`; None if it is not known, or compiled by XLA."""
    return _called(op, op.node_def.attr[attribute].func)


def _called(op: Operation, name: Any) -> Any:
    if op.node_def.attr["_XlaMustCompile"].b:
        return None
    graph = graphs.called(op.graph, name.name)
    return None if graph is None else _read(graph)


def loop(op: Operation) -> Any:
    """The `Loop` of a While op; None if one of its functions is not known."""
    condition, body = function(op, "cond"), function(op, "body")
    return None if condition is None or body is None else Loop(condition, body)


def branches(op: Operation) -> Any:
    """The `Function` of each branch of an If or Case op; None if one is not known."""
    attributes = op.node_def.attr
    names = attributes["branches"].list.func or [
        attributes[name].func for name in ("then_branch", "else_branch")
    ]
    called = [_called(op, name) for name in names]
    return None if None in called else called


def _read(graph: Graph) -> Any:
    inputs = IdentityMap.of(graph.inputs)
    outputs = [dependencies.origin(tensor) for tensor in graph.outputs]
    live, pending = set(), [tensor.op for tensor in outputs if tensor not in inputs]
    while pending:
        op = pending.pop()
        if op not in live:
            live.add(op)
            pending += [tensor.op for tensor in dependencies.inputs_of(op) if tensor not in inputs]
            pending += [c for c in dependencies.controls_of(op) if c.type != "Placeholder"]
    body = dependencies.sorted_ops([op for op in graph.get_operations() if op in live])
    return None if body is None else Function(graph, list(graph.inputs), body, outputs)


def not_inlined_attributes(op: Operation, count: int, place: Any) -> Any:
    """The attributes that keep TensorFlow from inlining the functions of copies of `op`.

    TensorFlow inlines the ops of a branch or loop, and optimises them once for each copy.
    Functions that are not inlined it optimises once for all copies.

    Args:
      op: an op of a trace that is copied once per replica.
      count: number of replicas.
      place: the device. On a GPU all are inlined: it has no kernels for some values of loops.

    Returns:
      A dict of attributes; None if `op` may be inlined, or calls no function.
    """
    if op.type not in LOOPS + BRANCHES or "GPU" in (place or ""):
        return None
    called = (branches(op) if op.type in BRANCHES else loop(op)) or ()
    ops = sum(len(one.body) for one in called)
    return made_ops.NOT_INLINED if ops * count > _INLINED_OPS else None


class BatchedFunction:
    """A batched function of a branch or loop, in a graph of its own.

    Args:
      graph: the `BatchedGraph` that calls it.
      function: the `Function`.
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
