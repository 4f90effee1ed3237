"""Effect order: synchronisation points of ours that would reorder effects that replicas share.

An assignment of one value to a variable without aggregation is done once, where the
replicas meet (:func:`tpudist.virtual.variables.splits.update_once`). TensorFlow's replicas do not meet there: the first
does all that it does, then the second. If they use something that they share before and
after it (:mod:`effects`), numbers show the difference. Such a variable gets a value
per replica, and the function is traced again. What is printed, written to a summary or seen
by Python that gives nothing back is no number: its order among replicas alone splits nothing.
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
    if not any(made.assigned is not None for made in program.merges):
        return []
    found = []
    for places in _places(program).values():
        changed = any(changes for _, changes in places)
        segments = [segment for segment, _ in places]
        if changed:
            between = program.merges[min(segments) : max(segments)]
            found += [made.assigned for made in between if made.assigned is not None]
    return found


def _places(program: Any) -> dict[Any, list[tuple[int, bool]]]:
    """[(segment, whether it is changed)] of each use of what replicas share.

    Uses with a meeting of TensorFlow's own between them are told apart.
    """
    positions = [made.position for made in program.merges]
    native = [made.position for made in program.merges if made.assigned is None]

    def is_shared(handle: Any) -> bool:
        outer = functions.captured(handle)
        return storage.own(outer, program.extended) is None

    found = collections.defaultdict(list)
    for i, op in enumerate(program.graph.get_operations()):
        for handle, changes in effects.uses(op, is_shared):
            if handle is not effects.WORLD or effects.asks_python(op):
                changes = changes and effects.is_more_than_told(op)
                key = id(handle), bisect.bisect_right(native, i)
                found[key].append((bisect.bisect_right(positions, i), changes))
    return found
