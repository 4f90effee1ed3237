"""Finds variables that ops of a replica function write by their handle, not by a method.

``tf.raw_ops``, ``training_ops`` and Keras' optimizers of 1.13 do so. Each replica writes its
own copy; such a variable is no longer stored once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.tfcompat import functions, graphs
from tpudist.virtual.variables import splits, storage

if TYPE_CHECKING:
    from typing import Any, Iterable

_WRITES = (
    "Assign",
    "ResourceApply",
    "ResourceCountUpTo",
    "ResourceScatter",
    "ResourceSparseApply",
    "ResourceStridedSliceAssign",
)

#: Ops that pass a handle on.
_FORWARDING = ("Enter", "Identity", "Switch")


def split(ops: Iterable[Any]) -> None:
    """Splits the variables stored once that `ops`, of replicas, write by their handles.

    Raises:
      ContextError: (a RuntimeError) a graph relies on one's being stored once.
    """
    for op in ops:
        for variable in map(storage.of_handle, written(op)):
            if storage.may_split(variable):
                splits.split(variable)


def written(op: Any) -> list[Any]:
    """The handles, of the graph outside of the trace of `op`, that it writes to."""
    return [functions.captured(_source(op.inputs[i])) for i in _written_inputs(op)]


def _written_inputs(op: Any) -> set[int]:
    """The numbers of the inputs that `op`, or a function that it calls, writes to."""
    if op.type == "Placeholder" or op.type in graphs.READS:
        return set()
    handles = [i for i, tensor in enumerate(op.inputs) if functions.is_resource(tensor)]
    if not handles:
        return set()
    if op.type.startswith(_WRITES):
        return set(handles)
    numbers: set[int] = set()
    for graph in filter(None, graphs.graphs_called_by(op)):
        before = len(op.inputs) - len(graph.inputs)  # the condition of an If
        position = {id(tensor): before + i for i, tensor in enumerate(graph.inputs)}
        for inner in graph.get_operations():
            keys = [id(_source(inner.inputs[i])) for i in _written_inputs(inner)]
            numbers.update(position[key] for key in keys if key in position)
    return numbers


def _source(tensor: Any) -> Any:
    """The handle that `tensor` is, seen through ops that pass it on."""
    while tensor.op.type in _FORWARDING:
        tensor = tensor.op.inputs[0]
    return tensor
