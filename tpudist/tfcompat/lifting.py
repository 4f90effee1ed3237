"""Initial values of variables, taken out of the function that computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf
from tensorflow.python.eager import lift_to_graph
from tensorflow.python.framework import ops

from tpudist.errors import ContextError
from tpudist.tfcompat import functions, graphs, versions

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Graph, Tensor


def lift(tensor: Tensor) -> Any:
    """A copy, in the current context, of a tensor that depends on no input.

    It may read variables, where the function captured them and has not changed them.

    Raises:
      ContextError: it depends on what only the function knows.
    """
    try:
        if not tf.executing_eagerly():
            return _copied(tensor, ops.get_default_graph())
        graph = functions.FuncGraph("lifted")
        graph.outputs = [_copied(tensor, graph)]
        graph.inputs = [held for _, held in functions.captures(graph)]
        outer = [external for external, _ in functions.captures(graph)]
        return functions.call_flat(functions.make(graph, noinline=False), outer)[0]
    except lift_to_graph.UnliftableError as error:
        raise refusal("an argument or a result of the replica function") from error


def refusal(source: Any) -> Any:
    """The error of a variable that starts from `source`."""
    return ContextError(
        "a variable made in a replica function starts from %s" % source,
        "it is made outside of the function, once for all replicas",
        "make it in strategy.scope(), and assign it in the replica function",
    )


def _copied(tensor: Tensor, graph: Graph) -> Any:
    if not versions.TRACE_ONCE:
        wanted = [tensor] if versions.HAS_FUNCTION else tensor
        return lift_to_graph.lift_to_graph(wanted, graph)[tensor]
    return lift_to_graph.lift_to_graph(
        [tensor], graph, sources=variables_read(tensor), handle_captures=True
    )[tensor]


def variables_read(tensor: Tensor) -> Any:
    """The placeholders of what the function of `tensor` captured eagerly, and `tensor` reads.

    Raises:
      ContextError: the function changes one of these.
    """
    held = {
        id(inner): inner
        for outer, inner in functions.captures(tensor.graph)
        if isinstance(outer, ops.EagerTensor)
    }
    reads, seen, pending = [], set(), [tensor.op]
    while pending:
        op = pending.pop()
        if op not in seen:
            seen.add(op)
            pending += [each.op for each in op.inputs]
            reads += [held[id(each)] for each in op.outputs if id(each) in held]
    if not all(graphs.only_reads(op) for each in reads for op in each.consumers()):
        raise refusal("a variable that it has changed before")
    return reads
