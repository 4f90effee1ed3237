"""Effects of the ops of a trace on what replicas share.

Replicas share what is not the strategy's: a variable made outside of its scope, a table, a
queue, what is printed, what Python sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.tfcompat import functions, graphs, random_seeds
from tpudist.virtual.trace import segments

if TYPE_CHECKING:
    from typing import Any, Callable, Iterator

    from tpudist.tfcompat.annotations import Operation, Tensor


#: Ops that take a resource but do not read its value.
_ASK_NO_VALUE = ("Identity", "VariableShape")

#: Ops that call Python.
_PYTHON = ("EagerPyFunc", "PyFunc")

#: Ops whose effect is an error, whichever replica has it first.
CHECKS = ("Assert", "CheckNumerics", "CheckNumericsV2", "Abort")


def root(tensor: Tensor) -> Any:
    """The handle that `tensor` is, seen through every Identity."""
    while tensor.op.type == "Identity":
        tensor = segments.origin(tensor.op.inputs[0])
    return tensor


#: Stands for whatever has no handle: the console, a file, Python.
WORLD = object()


def uses(op: Operation, is_shared: Callable[..., Any]) -> Any:
    """[(resource, whether it is changed)]: what `op` uses and replicas share.

    Args:
      op: an op of the trace.
      is_shared: tells of the handle of a resource whether replicas share it.
    """
    if not functions.is_stateful(op) or random_seeds.is_random(op):
        if not any(functions.is_resource(tensor) for tensor in op.inputs):
            return []
    if op.type in _ASK_NO_VALUE or op.type in CHECKS:
        return []
    changes = affects(op)
    handles = [root(tensor) for tensor in segments.inputs_of(op) if functions.is_resource(tensor)]
    found = [(handle, changes) for handle in handles if is_shared(handle)]
    if _affects_the_world(op):
        found.append((WORLD, True))
    return found


def affects(op: Operation) -> bool:
    """Whether `op`, or what it calls, changes something besides the state of a random op."""
    return any(True for _ in _effects(op))


def asks_python(op: Operation) -> bool:
    """Whether `op`, or what it calls, is a Python function that gives something back."""
    return any(each.type in _PYTHON and each.outputs for each in _effects(op))


def is_more_than_told(op: Operation) -> bool:
    """Whether an effect of `op` is another one than to write summaries, which no op reads."""
    return any(not each.type.endswith("Summary") for each in _effects(op))


def _affects_the_world(op: Operation) -> bool:
    return any(
        not any(functions.is_resource(tensor) for tensor in each.inputs) for each in _effects(op)
    )


def _effects(op: Operation) -> Iterator[Any]:
    """The ops with an effect: `op` itself, or those of the functions it calls."""
    if (
        not functions.is_stateful(op)
        or op.type in graphs.READS + CHECKS
        or random_seeds.is_random(op)
    ):
        return
    found = graphs.graphs_called_by(op)
    if None in found or not found:
        yield op
    else:
        for graph in found:
            for inner in graph.get_operations():
                yield from _effects(inner)
