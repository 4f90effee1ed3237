"""Finds what XLA's loops cannot be: an array that grows, and a gradient of unknown many rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from tpudist.tfcompat import functions, graphs
from tpudist.virtual import explanations
from tpudist.virtual.trace.dependencies import IdentityMap

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation

#: Functions that give their loops a number of rounds only while they build a program for XLA:
#: AutoGraph's ``for``, and the recurrent layers of Keras.
_BOUND_FOR_XLA = {"for_stmt", "rnn"}


def reason(op: Operation) -> tuple[str, str] | None:
    """Returns (why, instead) if XLA cannot compile a loop, or its gradient, else None."""
    if op.type in graphs.LOOPS:
        grown = _grown(op)
        why = "%s in a round, and a TPU's arrays keep their shapes" % grown
        return (why, _PADDED) if grown else None
    if op.type == "EmptyTensorList" and functions.static_value(op.inputs[1]) == -1:
        loops = [each for each in op.outputs[0].consumers() if each.type in graphs.LOOPS]
        if loops and not any(_BOUND_FOR_XLA.intersection(graphs.callers(each)) for each in loops):
            line = explanations.place(loops[0])
            return "a gradient needs to know the rounds of the loop of %s" % line, _ROUNDS
    return None


_PADDED = "an array of the final size, of which each round writes a part"
_ROUNDS = "maximum_iterations=N of tf.while_loop"


def _grown(loop: Operation) -> str | None:
    """Returns "array changes from SHAPE to SHAPE" of a loop's variable whose shape changes."""
    shapes = [tensor.shape for tensor in loop.inputs]
    body = graphs.called(loop.graph, loop.get_attr("body").name)
    known = [each.is_fully_defined() for each in shapes]
    if body is None or not any(
        is_known and not inner.shape.is_fully_defined()
        for is_known, inner in zip(known, body.inputs)
    ):
        return None
    for before, is_known, after in zip(shapes, known, _result_shapes(loop, body, shapes)):
        if is_known and after.is_fully_defined() and before.as_list() != after.as_list():
            return "array changes from %s to %s" % (before.as_list(), after.as_list())
    return None


def _result_shapes(loop: Operation, body: Any, shapes: Sequence[Any]) -> list[Any]:
    """Returns the shapes after a round whose variables begin with some shapes."""
    with loop.graph.as_default():
        graph = functions.FuncGraph("round")
    functions.add_library(body, graph)
    made: IdentityMap[Any, Any] = IdentityMap()
    with graph.as_default():
        for tensor, shape in zip(body.inputs, shapes):
            made[tensor] = functions.placeholder_like(tensor, shape)
        for op in body.get_operations():
            if op.outputs and op.outputs[0] not in made:
                copy = functions.copy_op(op, [made[tensor] for tensor in op.inputs])
                made.update(zip(op.outputs, copy.outputs))
    return [made[tensor].shape for tensor in body.outputs]
