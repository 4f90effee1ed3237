"""Decides which values are the same on every replica, as far as a trace shows.

Uniform are constants, reads of a variable that is stored once, single values
that a merge gave back, and everything computed from these without side effects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Sequence

import numpy as np

from tpudist.tfcompat import distributed, functions, graphs, made_ops, nests
from tpudist.virtual import reductions
from tpudist.virtual.trace import function_graphs
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.variables import stored_once

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Tensor
    from tpudist.virtual.replicas.program import Program


class Uniformity:
    """Knows which tensors of a trace are uniform; those that are `assumed` are."""

    def __init__(self, program: Program, assumed: Iterable[Tensor] = ()) -> None:
        self._program = program
        self._seen = {"arguments": 0, "captures": 0, "merges": 0, "ops": 0}
        self._placeholders: IdentityMap[Any, Any] = IdentityMap(
            (tensor, True) for tensor in assumed
        )
        self._read: IdentityMap[Any, Any] = IdentityMap()
        self._uniform: IdentityMap[Any, Any] = IdentityMap()
        self._claimed: IdentityMap[Any, Any] = IdentityMap()

    def holds(self, value: object) -> bool:
        """Whether `value`, of the trace or from outside of it, is the same on every replica."""
        self.learn()
        leaves = distributed.flatten(reductions.of_tensors(value))
        uniform = all(map(self._is_uniform, leaves))
        if uniform:
            self._claimed.update(IdentityMap.of(leaves))
        return uniform

    def has_changed(self) -> bool:
        """Whether a variable was split after what is computed from it had counted as uniform."""
        if all(map(_is_one, self._read)):
            return False
        now = Uniformity(self._program)
        return not all(map(now.holds, self._claimed))

    def _is_uniform(self, leaf: object) -> bool:
        if getattr(leaf, "graph", None) is self._program.graph:
            return leaf in self._uniform
        around = self._program.around
        return around is None or around.uniformity.holds(leaf)

    def learn(self) -> None:
        """Looks at the ops that were added to the trace since the last time."""
        self._learn_placeholders()
        for op in self._unseen("ops", self._program.graph.get_operations()):
            taken = [tensor in self._uniform for tensor in op.inputs]
            if op.type == "IdentityN":  # a custom gradient's: each output is one input
                follows = taken
            else:
                is_one = op.type != "Placeholder" and all(taken) and graphs.only_reads(op)
                follows = [is_one and not function_graphs.meets(op)] * len(op.outputs)
            for tensor, is_uniform in zip(op.outputs, follows):
                if self._placeholders.get(tensor, is_uniform):
                    self._uniform[tensor] = True

    def _unseen(self, kind: Any, items: Sequence[Any]) -> Sequence[Any]:
        """The items of a list, which only grows, that were added since the last time."""
        start, self._seen[kind] = self._seen[kind], len(items)
        return items[start:]

    def _learn_placeholders(self) -> None:
        """Decides for each new placeholder of the trace whether all replicas get the same value."""
        program = self._program
        is_alone = program.num_replicas < min(2, program.extended._num_replicas_in_sync)
        for inner, tensors in self._unseen("arguments", program.arguments):
            is_one = all(tensor is tensors[0] for tensor in tensors)
            self._placeholders[inner] = is_one and not is_alone  # others are on other hosts
        for outer, inner in self._unseen("captures", functions.captures(program.graph)):
            of_outer = _is_one if functions.is_resource(outer) else self._is_uniform
            self._placeholders[inner] = self._placeholders.get(inner) or of_outer(outer)
            if self._placeholders[inner] and functions.is_resource(outer):
                self._read[outer] = True
        # The last merge may have got more results since.
        for merge in program.merges[max(self._seen["merges"] - 1, 0) :]:
            results = merge.results
            self._placeholders.update((inner, len(tensors) == 1) for inner, tensors in results)
        self._seen["merges"] = len(program.merges)


def are_equal(values: Any) -> bool:
    """Whether the values of replicas that were traced one by one, in one graph, are the same."""
    columns = zip(*[distributed.flatten(reductions.of_tensors(value)) for value in values])
    pending = [(part, column[0]) for column in columns for part in column[1:]]
    compared: set[Any] = set()
    while pending:
        left, right = pending.pop()
        key = id(left), id(right)
        if left is not right and key not in compared:
            compared.add(key)
            computed_from = _computed_from(left, right)
            if computed_from is None:
                return False
            pending += computed_from
    return True


def _computed_from(left: Any, right: Any) -> list[Any] | None:
    """Pairs of tensors that are the same if these two are; None if these cannot be."""
    if not all(nests.is_tensor(side) and not graphs.is_eager(side) for side in (left, right)):
        if nests.is_tensor(left) or nests.is_tensor(right):
            is_one = made_ops.origin(left) is made_ops.origin(right)  # one eager tensor
        else:
            is_one = np.array_equal(left, right)
        return [] if is_one else None
    left, right = _source(left), _source(right)
    if left is right:
        return []
    one, other = left.op, right.op
    if not (graphs.is_same_op(one, other) and left.value_index == right.value_index):
        return None
    handles = [tensor for tensor in one.inputs if functions.is_resource(tensor)]
    return list(zip(one.inputs, other.inputs)) if all(map(_is_one, handles)) else None


def _source(tensor: Tensor) -> Any:
    """`tensor`, seen through every op that only passes it on."""
    while tensor.op.type in ("Identity", "IdentityN", "StopGradient"):
        tensor = tensor.op.inputs[tensor.value_index]
    return tensor


def _is_one(handle: Tensor) -> bool:
    """Whether `handle` belongs to a variable that is stored once."""
    variable = stored_once.of_handle(functions.captured(handle))
    return variable is not None and stored_once.is_stored_once(variable)
