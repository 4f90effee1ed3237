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
