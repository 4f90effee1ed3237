"""Serialized ops: those that each replica does before the next replica does them.

Without vectorization the first replica does all that it does, then the second. Where effects
on what replicas share (:mod:`effects`) could show another order, that order is kept: a single
effect of a segment is done once per replica in turn; between several, so is every op that lies
on a way from one to another.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from tpudist.virtual.trace import effects, ordering
from tpudist.virtual.vectorize import batched_values

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Operation, Tensor


def ops(body: Sequence[Operation], inputs: Any) -> Any:
    """The ops of `body` that each replica does before the next one does them.

    Args:
      body: the ops of a segment, each after those that it needs.
      inputs: {tensor that the segment takes: batched value}.

    Returns:
      A set of ops; empty if no order among replicas can be observed.
    """
    uses = [(op, effects.uses(op, functools.partial(_is_shared, inputs))) for op in body]
    changed = {id(root) for _, used in uses for root, changes in used if changes}
    shared = [op for op, used in uses if any(id(root) in changed for root, _ in used)]
    if len(shared) < 2:
        return set()
    return _after(body, shared) & _before(body, shared)


def _is_shared(inputs: Any, handle: Tensor) -> bool:
    return isinstance(inputs.get(handle), (batched_values.Uniform, type(None)))


def _after(body: Sequence[Operation], start: Any) -> Any:
    """`start`, and the ops of `body` that come after one of them."""
    found = set(start)
    for op in body:
        if any(before in found for before in ordering.needs(op)):
            found.add(op)
    return found


def _before(body: Sequence[Operation], end: Any) -> Any:
    """`end`, and the ops of `body` that come before one of them."""
    found = set(end)
    for op in reversed(body):
        if op in found:
            found.update(ordering.needs(op))
    return found
