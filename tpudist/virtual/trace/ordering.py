"""Sorts ops so that each comes after those that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.virtual.trace import segments

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Operation


def needs(op: Operation) -> Any:
    """The ops that `op` waits for."""
    return [tensor.op for tensor in segments.inputs_of(op)] + segments.controls_of(op)


def sorted_ops(body: Sequence[Operation]) -> Any:
    """The ops of `body`, each after those of `body` that it needs.

    The gradient of a loop adds ops late in a trace that feed the earlier loop; else the
    order is that of the trace.

    Returns:
      A list, or None if an op needs itself: a loop of TensorFlow 1.
    """
    inside, order = set(body), []
    done: dict[Operation, bool] = {}
    for first in body:
        pending = [first]
        while pending:
            op = pending[-1]
            if done.get(op):
                pending.pop()
                continue
            waits = [each for each in needs(op) if each in inside and not done.get(each)]
            if not waits:
                done[op] = True
                order.append(pending.pop())
            elif op in done:
                return None
            else:
                done[op] = False
                pending += reversed(waits)
    return order
