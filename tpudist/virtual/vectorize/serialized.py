"""Finds serialized ops: those that one replica finishes before the next one begins them.

Without vectorization a segment is run by one replica after the other. That order is kept where
effects on shared state (:mod:`effects`) could show another one. A single such effect in a
segment is simply copied once per replica, in order. Several are serialized, together with every
op that lies on a path from one of them to another.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from tpudist.virtual.trace import effects, ordering
from tpudist.virtual.vectorize.values import batched_values

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Operation, Tensor


def ops(body: Sequence[Operation], inputs: Any) -> Any:
    """The ops of `body` that must be serialized.

    Args:
      body: the ops of a segment, in an order in which they can run.
      inputs: {input of the segment: batched value}.

    Returns:
      A set of ops; empty if the order of the replicas cannot be observed.
    """
    uses = [(op, effects.uses(op, functools.partial(_is_shared, inputs))) for op in body]
    changed = {id(root) for _, used in uses for root, changes in used if changes}
    shared = [op for op, used in uses if any(id(root) in changed for root, _ in used)]
    if len(shared) < 2:
        return set()
    return _after(body, shared) & _before(body, shared)


def _is_shared(inputs: Any, handle: Tensor) -> bool:
    """Whether all replicas use the same resource through `handle`."""
    return isinstance(inputs.get(handle), (batched_values.Uniform, type(None)))


def _after(body: Sequence[Operation], start: Any) -> Any:
    """`start`, and the ops of `body` that need one of them, at any distance."""
    later = set(start)
    for op in body:
        if any(before in later for before in ordering.needs(op)):
            later.add(op)
    return later


def _before(body: Sequence[Operation], end: Any) -> Any:
    """`end`, and the ops of `body` that one of them needs, at any distance."""
    earlier = set(end)
    for op in reversed(body):
        if op in earlier:
            earlier.update(ordering.needs(op))
    return earlier
