"""The ops that tell a new Session which variables have no value yet.

A Scaffold makes them if nobody has. TensorFlow's ask for all variables twice, with ops
that are a third of the graph of a small model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from typing import Any

_v1 = tf.compat.v1
_keys = _v1.GraphKeys


def add_ops() -> None:
    """Adds them to the current graph; not if it has some, or tables, which TensorFlow asks."""
    graph = _v1.get_default_graph()
    used = (_keys.READY_OP, _keys.READY_FOR_LOCAL_INIT_OP, "resources", "local_resources")
    if any(map(graph.get_collection, used)):
        return
    of_all = ready_for_local = _without_value(_v1.global_variables())
    if _v1.local_variables():
        of_all = _without_value(_v1.global_variables() + _v1.local_variables())
    graph.add_to_collection(_keys.READY_OP, of_all)
    graph.add_to_collection(_keys.READY_FOR_LOCAL_INIT_OP, ready_for_local)


def _without_value(variables: list[Any]) -> Any:
    """The names of those of `variables` that have no value, a string vector."""
    if not variables:
        return tf.constant([], tf.string)
    have = [_v1.is_variable_initialized(variable) for variable in variables]
    with tf.device("/cpu:0"):
        names = tf.constant([variable.op.name for variable in variables])
        return tf.dynamic_partition(names, tf.cast(tf.stack(have), tf.int32), 2)[0]
