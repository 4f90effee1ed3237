"""Delivers values of replica functions to the code that started them.

A replica function may have to pass a value, such as an output of a step, to the
cross-replica code that started it without returning it. Replicas that are traced one by one
merge for that; a trace delivers the value after its segments have been called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import distributed, functions, nests
from tpudist.virtual.replicas import merge, program
from tpudist.virtual.trace import function_graphs

if TYPE_CHECKING:
    from typing import Any, Callable

    from tpudist.tfcompat.annotations import Strategy


def deliver(value: Any, receive: Callable[..., Any]) -> None:
    """Calls ``receive(value)`` in the context that started the replicas.

    Context: any under a strategy. In cross-replica context that did not come
    from a replica function, `receive` is called at once.

    Args:
      value: a nest; of tensors in replica context.
      receive: gets the same nest, in cross-replica context, with a
        distributed value in place of each tensor of a replica function.

    Raises:
      ContextError: from a nested function, loop or branch of a replica.
    """
    trace = function_graphs.current()
    if trace is not None and trace.handed_out is not None:
        _check_place(trace)
        trace.handed_out.append((value, receive))
    elif isinstance(trace, merge.Merge):
        _check_place(trace)
        trace.program.deliveries.append((trace.hand_back(value), receive))
    elif tf.distribute.get_replica_context() is None:
        receive(value)
    elif isinstance(trace, program.Program):
        _check_place(trace)
        trace.deliveries.append((value, receive))
    else:
        tf.distribute.get_replica_context().merge_call(
            functions.library(lambda strategy, merged: receive(merged)), args=(value,)
        )


def _check_place(trace: Any) -> None:
    merge.check_place(trace.graph)


def spread(strategy: Strategy, value: Any) -> list[Any]:
    """Splits a nest with distributed leaves into a list with one nest per replica."""
    return [
        nests.map_structure(
            lambda leaf, i=i: (
                distributed.components(leaf)[i] if distributed.is_distributed(leaf) else leaf
            ),
            value,
        )
        for i in range(strategy.num_replicas_in_sync)
    ]
