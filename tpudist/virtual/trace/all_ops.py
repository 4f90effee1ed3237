"""Lists the ops of a graph and of every function that it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

from tpudist.tfcompat import graphs

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Graph, Operation

#: {type of op: names of its attributes that are functions}, filled when first used.
_function_attributes: dict[str, list[str]] = {}


def ops(graph: Graph) -> Iterator[tuple[str, Operation]]:
    """Yields (path, op) of each op of a graph and of every function it calls.

    Args:
      graph: a ``tf.Graph``.

    Yields:
      The names of the calling ops and of the op itself, joined by "/", and the op. The
      ops of a function that is called twice are yielded twice, with both paths.
    """
    pending: list[tuple[str, Graph, tuple[str, ...]]] = [("", graph, ())]
    while pending:
        prefix, current, callers = pending.pop()
        for op in current.get_operations():
            yield prefix + op.name, op
            pending += [
                (prefix + op.name + "/", body, callers + (name,))
                for name, body in called(op, current)
                if name not in callers
            ]


def called(op: Operation, graph: Graph) -> list[tuple[str, Any]]:
    """Returns (name, FuncGraph) of each function that an op calls, and `graph` knows."""
    pairs = []
    for attribute in _attributes_with_functions(op):
        value = op.get_attr(attribute)
        for function in value if isinstance(value, list) else [value]:
            name = getattr(function, "name", "")
            body = name and graphs.called(graph, name)
            if body is not None:
                pairs.append((name, body))
    return pairs


def _attributes_with_functions(op: Operation) -> list[str]:
    if op.type not in _function_attributes:
        _function_attributes[op.type] = [
            attribute.name
            for attribute in op.op_def.attr
            if attribute.type in ("func", "list(func)")
        ]
    return _function_attributes[op.type]
