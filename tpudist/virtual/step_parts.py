"""Describes the parts of a traced step: the segments, and where replicas meet between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Iterator, NamedTuple, Sequence

from tpudist.virtual.trace import dependencies

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Graph, Operation, Tensor
    from tpudist.virtual.replicas.merge import Merge

#: TPUs compute so many rows, and so many features, at once.
ROWS, FEATURES = 8, 128

#: How many products are hinted at, those of the most work.
_MOST_PRODUCTS = 3

#: {how a merge takes a tensor of the replicas: the collective that a TPU does for it}
_COLLECTIVES = {"sum": "all-reduce", "rows": "all-gather"}


class Meeting(NamedTuple):
    """Where the replicas of a step meet.

    Args:
      place: "file:line" of the user's code, "?" if unknown.
      collectives: {name of a collective: (number of tensors, bytes of one replica's)}.
      updated: names of the variables that are updated there, once for all replicas.
    """

    place: str
    collectives: dict[str, tuple[int, int]]
    updated: tuple[str, ...]

    def __str__(self) -> str:
        said = [
            "%s of %d tensor%s, %s" % (name, count, "s" * (count > 1), size(number))
            for name, (count, number) in self.collectives.items()
        ]
        if self.updated:
            more = " and %d more" % (len(self.updated) - 1) if len(self.updated) > 1 else ""
            said.append("update of %s%s" % (self.updated[0], more))
        return "%s: %s" % (self.place, "; ".join(said) or "the replicas meet")


def meeting(merges: Sequence[Merge], place: Callable[[Operation], str]) -> Meeting:
    """Returns the `Meeting` of a merge, or of all those in a branch or loop."""
    tensors: dict[str, dict[int, Tensor]] = {}
    for merge in merges:
        for _, source, replica in merge.used():
            name = _COLLECTIVES.get(replica, "all-gather")
            if replica in _COLLECTIVES or not merge.program.uniformity.holds(source):
                tensors.setdefault(name, {})[id(source)] = source
    collectives = {
        name: (len(found), sum(map(_bytes, found.values()))) for name, found in tensors.items()
    }
    variables = [variable for merge in merges for variable in merge.updated]
    variables += [merge.assigned for merge in merges if merge.assigned is not None]
    names = tuple(dict.fromkeys(variable.name for variable in variables))
    lines = (place(op) for merge in merges for op in _ops_nearby(merge))
    return Meeting(next((line for line in lines if line != "?"), "?"), collectives, names)


def _ops_nearby(merge: Merge) -> Iterator[Operation]:
    """Yields the ops of a merge, and then of the trace behind it and before it."""
    yield from merge.graph.get_operations()
    traced = merge.program.graph.get_operations()
    yield from traced[merge.position :]
    yield from reversed(traced[: merge.position])


def _bytes(tensor: Tensor) -> int:
    """The bytes of a tensor; 0 if its shape is known only when it runs."""
    return int((tensor.shape.num_elements() or 0) * tensor.dtype.size)


def size(number: float) -> str:
    """A number of bytes, as people read it."""
    for unit in ("bytes", "KiB", "MiB"):
        if number < 1024:
            return "%.4g %s" % (number, unit)
        number /= 1024
    return "%.4g GiB" % number


def padded_features(graph: Graph, place: Callable[[Operation], str]) -> list[str]:
    """Returns a line for each of the largest matrix products whose features a TPU pads."""
    found: dict[str, float] = {}
    for _, op in dependencies.all_ops(graph):
        if op.type not in ("MatMul", "BatchMatMulV2", "BatchMatMulV3"):
            continue
        features = op.outputs[0].shape.as_list()[-1] if op.outputs[0].shape.ndims else None
        work = op.inputs[0].shape.num_elements()
        if features and work and features % FEATURES:
            line = "%s: %d features: a TPU pads them to %d" % (
                place(op),
                features,
                features + -features % FEATURES,
            )
            found[line] = max(found.get(line, 0), float(work) * features)
    return sorted(found, key=lambda line: -found[line])[:_MOST_PRODUCTS]
