"""Assignments that give every replica the same value, done once for all of them.

A variable without aggregation that a replica function assigns is a copy per replica on
a TPU. While all copies are given the same value, one is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import nests
from tpudist.virtual.trace import function_graphs

if TYPE_CHECKING:
    from typing import Any, Callable


def update(
    variable: Any, update_fn: Callable[..., Any], value: Any, kwargs: dict[str, Any]
) -> tuple[bool, Any]:
    """Updates `variable` once, if `value` is the same on every replica.

    Context: replica.

    Args:
      variable: a mirrored variable that is stored once.
      update_fn: ``update_fn(component, value, **kwargs)``.
      value: what it is assigned.
      kwargs: further arguments of `update_fn`.

    Returns:
      (True, what the assignment gives), or (False, None) where replicas may differ, or
      cannot meet.
    """
    trace = function_graphs.current()
    if trace is None or trace.uniformity is None or not trace.is_here():
        return False, None
    value = nests.map_structure(_as_tensor, value)
    if not all(map(trace.uniformity.holds, nests.flatten(value))):
        return False, None

    def merge_fn(unused_strategy: Any, value: Any) -> None:
        variable._update_cross_replica(update_fn, value, **kwargs)

    trace.merge(merge_fn, (value,), {})
    trace.merges[-1].assigned = variable
    done = tf.no_op()
    if not kwargs.get("read_value", True):
        return True, done
    return True, variable._primary._lazy_read(done)


def _as_tensor(leaf: Any) -> Any:
    return tf.convert_to_tensor(leaf) if isinstance(leaf, tf.Variable) else leaf
