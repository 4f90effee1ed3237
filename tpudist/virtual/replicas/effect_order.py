"""Effect order: finds merges of ours that would reorder effects which replicas share.

An assignment of one value to a variable without aggregation is done once, in a merge
(:func:`tpudist.virtual.variables.splits.update_once`). TensorFlow's replicas do not merge
there: the first one runs to its end, then the second. If the function uses a shared resource
before and after the assignment (:mod:`effects`), its numbers depend on that order. Such a
variable gets a value per replica, and the function is traced again. Printing, summaries and
Python functions without results give no numbers: their order alone splits no variable.
"""

from __future__ import annotations

import bisect
import collections
from typing import TYPE_CHECKING

from tpudist.tfcompat import functions
from tpudist.virtual.trace import effects
from tpudist.virtual.variables import storage

if TYPE_CHECKING:
    from typing import Any


def variables_between(program: Any) -> list[Any]:
    """The variables whose one value is assigned between effects that replicas share.

    Args:
      program: the traced `Program`.
    """
    if not any(merge.assigned is not None for merge in program.merges):
        return []
    variables = []
    for uses in _uses_of_shared(program).values():
        changed = any(changes for _, changes in uses)
        segments = [segment for segment, _ in uses]
        if changed:
            between = program.merges[min(segments) : max(segments)]
            variables += [merge.assigned for merge in between if merge.assigned is not None]
    return variables


def _uses_of_shared(program: Any) -> dict[Any, list[tuple[int, bool]]]:
    """{key: [(segment, whether it is changed)]}: the uses of each resource that replicas share.

    A resource has another key after a merge that TensorFlow's replicas have too.
    """
    positions = [merge.position for merge in program.merges]
    native = [merge.position for merge in program.merges if merge.assigned is None]

    def is_shared(handle: Any) -> bool:
        outer = functions.captured(handle)
        return storage.per_replica_variable(outer) is None

    uses = collections.defaultdict(list)
    for i, op in enumerate(program.graph.get_operations()):
        for handle, changes in effects.uses(op, is_shared):
            if handle is not effects.WORLD or effects.calls_python_for_a_result(op):
                changes = changes and effects.does_more_than_summaries(op)
                key = id(handle), bisect.bisect_right(native, i)
                uses[key].append((bisect.bisect_right(positions, i), changes))
    return uses
