"""Finds the effects of a trace's ops on resources that replicas share.

Replicas share what the strategy did not make: a variable made outside of its scope, a table, a
queue, the console, the state of Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Iterator

from tpudist.tfcompat import functions, graphs, random_seeds
from tpudist.virtual.trace import dependencies

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor


#: Ops that take a resource but do not read its value.
_READ_NO_VALUE = ("Identity", "VariableShape")

#: Ops that call Python.
_PYTHON = ("EagerPyFunc", "PyFunc")

#: Ops whose effect is an error, whichever replica has it first.
CHECKS = ("Assert", "CheckNumerics", "CheckNumericsV2", "Abort")


def root(tensor: Tensor) -> Tensor:
    """The handle that `tensor` is, seen through every Identity."""
    while tensor.op.type == "Identity":
        tensor = dependencies.origin(tensor.op.inputs[0])
    return tensor


#: The resource of effects on what has no handle: the console, a file, Python.
WORLD = object()


def uses(op: Operation, is_shared: Callable[[Tensor], bool]) -> list[tuple[object, bool]]:
    """[(resource, whether it is changed)]: the resources that `op` uses and replicas share.

    Args:
      op: an op of the trace.
      is_shared: ``is_shared(handle)``: whether replicas share the resource.
    """
    if not functions.is_stateful(op) or random_seeds.is_random(op):
        if not any(functions.is_resource(tensor) for tensor in op.inputs):
            return []
    if op.type in _READ_NO_VALUE or op.type in CHECKS:
        return []
    changes = affects(op)
    handles = [
        root(tensor) for tensor in dependencies.inputs_of(op) if functions.is_resource(tensor)
    ]
    shared: list[tuple[object, bool]] = [
        (handle, changes) for handle in handles if is_shared(handle)
    ]
    if _affects_the_world(op):
        shared.append((WORLD, True))
    return shared


def affects(op: Operation) -> bool:
    """Whether `op`, or what it calls, changes something besides the state of a random op."""
    return any(True for _ in _effects(op))


def calls_python_for_a_result(op: Operation) -> bool:
    """Whether `op`, or an op that it calls, is a Python function with a result."""
    return any(effect.type in _PYTHON and effect.outputs for effect in _effects(op))


def does_more_than_summaries(op: Operation) -> bool:
    """Whether `op` has effects other than writing summaries, which no op reads."""
    return any(not effect.type.endswith("Summary") for effect in _effects(op))


def _affects_the_world(op: Operation) -> bool:
    return any(
        not any(functions.is_resource(tensor) for tensor in effect.inputs)
        for effect in _effects(op)
    )


def _effects(op: Operation) -> Iterator[Operation]:
    """The ops with an effect: `op` itself, or those of the functions it calls."""
    if (
        not functions.is_stateful(op)
        or op.type in graphs.READS + CHECKS
        or random_seeds.is_random(op)
    ):
        return
    called = graphs.graphs_called_by(op)
    if None in called or not called:
        yield op
    else:
        for graph in called:
            for inner in graph.get_operations():
                yield from _effects(inner)
