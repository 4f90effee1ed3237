"""The ops of a trace: what each needs and affects, their order, and what nothing needs.

An IdentityN counts as no op: its inputs pass through it.
"""

from __future__ import annotations

import bisect
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
    TypeVar,
)

from tpudist.tfcompat import distributed, functions, graphs, nests, random_seeds

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Graph, Operation, Tensor
    from tpudist.tfcompat.placed_graphs import LocatedGraph
    from tpudist.virtual.replicas.merge import Merge
    from tpudist.virtual.replicas.program import Program


K = TypeVar("K")
V = TypeVar("V")


class IdentityMap(MutableMapping[K, V]):
    """A dictionary by identity, in the order of insertion; it keeps its keys alive."""

    def __init__(self, pairs: Iterable[tuple[K, V]] | Mapping[K, V] = ()) -> None:
        self._pairs: dict[int, tuple[K, V]] = {}
        self.update(pairs)

    @classmethod
    def of(cls, keys: Iterable[K]) -> IdentityMap[K, K]:
        """Each key mapped to itself, for use as an ordered set."""
        return IdentityMap((key, key) for key in keys)

    def __getitem__(self, key: K) -> V:
        return self._pairs[id(key)][1]

    def __setitem__(self, key: K, value: V) -> None:
        self._pairs[id(key)] = (key, value)

    def __delitem__(self, key: K) -> None:
        del self._pairs[id(key)]

    def __contains__(self, key: object) -> bool:
        return id(key) in self._pairs

    def __iter__(self) -> Iterator[K]:
        return (key for key, _ in self._pairs.values())

    def __len__(self) -> int:
        return len(self._pairs)


def origin(tensor: Tensor) -> Tensor:
    """The tensor that a custom gradient's IdentityN passes on as `tensor`, or `tensor` itself."""
    while getattr(tensor, "op", None) is not None and tensor.op.type == "IdentityN":
        tensor = tensor.op.inputs[tensor.value_index]
    return tensor


def inputs_of(op: Operation) -> list[Tensor]:
    """The tensors that `op` takes, seen through every IdentityN."""
    return [origin(tensor) if tensor.op.type == "IdentityN" else tensor for tensor in op.inputs]


def controls_of(op: Operation) -> list[Operation]:
    """The ops that `op` waits for, besides those of its inputs, seen through every IdentityN."""
    controls: list[Operation] = []
    for control in op.control_inputs:
        if control.type == "IdentityN":
            controls += [tensor.op for tensor in inputs_of(control)] + controls_of(control)
        else:
            controls.append(control)
    for tensor in op.inputs:
        if tensor.op.type == "IdentityN":
            controls += controls_of(tensor.op)
    return list(dict.fromkeys(controls)) if controls else controls


def needs(op: Operation) -> list[Operation]:
    """The ops that `op` waits for."""
    return [tensor.op for tensor in inputs_of(op)] + controls_of(op)


def sorted_ops(body: Sequence[Operation]) -> list[Operation] | None:
    """The ops of `body`, each after those that it needs; None for a loop of TensorFlow 1."""
    inside, order = set(body), []
    is_sorted: dict[Operation, bool] = {}  # False while its inputs are being sorted
    for first in body:
        pending = [first]
        while pending:
            op = pending[-1]
            if is_sorted.get(op):
                pending.pop()
                continue
            waits = [need for need in needs(op) if need in inside and not is_sorted.get(need)]
            if not waits:
                is_sorted[op] = True
                order.append(pending.pop())
            elif op in is_sorted:
                return None
            else:
                is_sorted[op] = False
                pending += reversed(waits)
    return order


def prune(program: Program, results: object) -> None:
    """Leaves out of a traced `Program` the ops and merges that no result needs, as a Session does.

    An Estimator's evaluation does not train, though its model function has made an optimizer's ops.
    """
    program.uniformity.learn()
    graph = program.graph
    needed, merges = _reached(graph, [results, program.deliveries], program.merges)
    left_out = graph.leave_out([op for op in graph.get_operations() if op not in needed])
    program.merges[:] = [merge for merge in program.merges if merge in merges]
    for merge in program.merges:
        merge.position -= bisect.bisect_left(left_out, merge.position)


def prune_ops(graph: LocatedGraph, ops: Sequence[Operation], results: object) -> None:
    """Leaves those of `ops` out of a trace's `graph` that `results` do not need."""
    needed, _ = _reached(graph, results, ())
    graph.leave_out([op for op in ops if op not in needed])


def _reached(
    graph: Graph, results: object, merges: Sequence[Merge]
) -> tuple[set[Operation], set[Merge]]:
    """The ops of a graph, and the merges, that a nest of results needs."""
    merge_of = {op: merge for merge in merges for op in merge.result_ops()}
    needed: set[Operation] = set()
    met: set[Merge] = set()
    parts = [part for leaf in nests.flatten(results) for part in distributed.components(leaf)]
    inside = [part for part in distributed.flatten(parts) if getattr(part, "graph", None) is graph]
    pending: list[Operation] = [getattr(part, "op", part) for part in inside]
    while pending:
        op = pending.pop()
        if op in needed:
            continue
        needed.add(op)
        pending += [tensor.op for tensor in op.inputs]
        pending += op.control_inputs
        if op in merge_of and merge_of[op] not in met:
            met.add(merge_of[op])
            pending += merge_of[op].input_ops()
    return needed, met


# The functions that ops call.

#: {type of op: names of its attributes that are functions}, filled when first used.
_function_attributes: dict[str, list[str]] = {}


def all_ops(graph: Graph) -> Iterator[tuple[str, Operation]]:
    """Yields (names of its callers and its own, op) of each op of a graph and all that it calls."""
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
    if op.type not in _function_attributes:
        _function_attributes[op.type] = [
            each.name for each in op.op_def.attr if each.type in ("func", "list(func)")
        ]
    pairs = []
    for attribute in _function_attributes[op.type]:
        value = op.get_attr(attribute)
        for function in value if isinstance(value, list) else [value]:
            name = getattr(function, "name", "")
            body = name and graphs.called(graph, name)
            if body is not None:
                pairs.append((name, body))
    return pairs


# Effects on resources that replicas share: what the strategy did not make, such as a variable made
# outside of its scope, a table, a queue, the console, the state of Python.

#: Ops that take a resource but do not read its value.
_READ_NO_VALUE = ("Identity", "VariableShape")

#: Ops that call Python.
PYTHON = ("EagerPyFunc", "PyFunc")

#: Ops whose effect is an error, whichever replica has it first.
CHECKS = ("Assert", "CheckNumerics", "CheckNumericsV2", "Abort")


def root(tensor: Tensor) -> Tensor:
    """The handle that `tensor` is, seen through every Identity."""
    while tensor.op.type == "Identity":
        tensor = origin(tensor.op.inputs[0])
    return tensor


#: The resource of effects on what has no handle: the console, a file, Python.
WORLD = object()


def uses(op: Operation, is_shared: Callable[[Tensor], bool]) -> list[tuple[object, bool]]:
    """[(resource, whether it is changed)]: the resources that `op` uses and replicas share."""
    if not functions.is_stateful(op) or random_seeds.is_random(op):
        if not any(functions.is_resource(tensor) for tensor in op.inputs):
            return []
    if op.type in _READ_NO_VALUE or op.type in CHECKS:
        return []
    changes = affects(op)
    handles = [root(tensor) for tensor in inputs_of(op) if functions.is_resource(tensor)]
    shared: list[tuple[object, bool]] = [
        (handle, changes) for handle in handles if is_shared(handle)
    ]
    if not all(any(map(functions.is_resource, each.inputs)) for each in effects_of(op)):
        shared.append((WORLD, True))
    return shared


def affects(op: Operation) -> bool:
    """Whether `op`, or what it calls, changes something besides the state of a random op."""
    return any(True for _ in effects_of(op))


def effects_of(op: Operation) -> Iterator[Operation]:
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
                yield from effects_of(inner)
