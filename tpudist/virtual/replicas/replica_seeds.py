"""Numbers random ops, so that each replica draws what it would under MirroredStrategy.

They depend on the seed, the op and the replica. In the graph that calls
``run``, TensorFlow numbers the random ops that have no seed of their own: up to
a merge first all of replica 0, then all of replica 1; then the merge's own, and
so on after it. An op with its own seed draws the same on every replica.

Until 2.1 TensorFlow's numbers count all ops of the graph. There the number of a replica
is computed from that of the trace.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

from tpudist.tfcompat import random_seeds, versions

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Operation
    from tpudist.virtual.annotations import Program


def number(program: Program) -> Any:
    """Numbers the random ops of a program for each replica; those of merges in place.

    Args:
      program: the traced `Program`, which is about to be called.

    Returns:
      {op of the trace: [its number per replica]}.
    """
    counted = random_seeds.numbered(program.graph)
    if not versions.COUNTS_RANDOM_OPS:
        return {op: _numbers(op, program.num_replicas) for _, op in counted if op is not None}
    positions = [merge.position for merge in program.merges]
    numbers: dict[Any, Any] = {}
    for segment, merge in enumerate(program.merges + [None]):
        ops = [op for place, op in counted if bisect.bisect_right(positions, place) == segment]
        for op in ops * program.num_replicas:
            numbers.setdefault(op, []).append(random_seeds.next_number(program.outer))
        for _, op in random_seeds.numbered(merge.graph) if merge else ():
            next_number = random_seeds.next_number(program.outer)
            if op is not None:
                random_seeds.renumber(op, next_number)
    return numbers


def _numbers(op: Operation, count: int) -> list[Any]:
    return [random_seeds.number_of_replica(op.get_attr("seed2"), i) for i in range(count)]
