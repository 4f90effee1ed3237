"""Combines the values of all replicas, and mirrors values to devices.

Every function takes the strategy first and is called in cross-replica
context, in a graph, a ``tf.function`` or eagerly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.core import contexts, replica_values
from tpudist.core.backends import strategies
from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.tfcompat import distributed, nests
from tpudist.virtual import reductions

if TYPE_CHECKING:
    from typing import Any

    from tpudist.core.annotations import Axis, Pairs, ReduceOp, Strategy


def reduce_to(
    strategy: Strategy, aggregation: Any, value: Any, destinations: Any = None, axis: Axis = None
) -> Any:
    """Combines the replicas' values, into one tensor or mirrored to devices.

    Args:
      strategy: the strategy.
      aggregation: SUM, MEAN, or ONLY_FIRST_REPLICA for the first replica's value.
      value: a per-replica value, a nest of them, or a list with one value per
        replica.
      destinations: a mirrored variable, a per-replica value, a device string
        or a list of device strings; or None for one tensor. An integer is an
        `axis`.
      axis: the batch dimension of each component, to reduce it too.

    Returns:
      A value mirrored to `destinations`; a tensor if that is one device.

    Raises:
      ContextError: (a RuntimeError) in a replica; with destinations, outside
        of the scope.
      CollectiveError: (a ValueError) there is not one value per replica, or
        they differ in shape or dtype.
    """
    operation = replica_values.reduction(aggregation)
    if isinstance(destinations, int):
        destinations, axis = None, destinations
    if destinations is not None or tf.distribute.has_strategy():
        contexts.require_cross_replica(strategy, "reduce(...)")
    if axis is not None:
        return _reduce_along(strategy, operation, value, axis)
    copies = 1 if destinations is None else _copies(destinations)
    with strategy.scope():
        return _reduce_nest(strategy, operation, value, copies)


def _reduce_along(strategy: Strategy, operation: ReduceOp, value: Any, axis: int) -> Any:
    if operation == replica_values.FIRST:
        raise ArgumentError(
            "aggregation ONLY_FIRST with axis=%r" % (axis,),
            "along an axis values are added or averaged",
            "SUM or MEAN, or no axis",
        )
    return strategies.backend_of(strategy).reduce_along(operation, value, axis)


def _reduce_nest(strategy: Strategy, operation: ReduceOp, value: Any, copies: int) -> Any:
    if isinstance(value, replica_values.Mapped):
        return _spread(strategy, _combine(operation, value.get()), copies)
    if replica_values.is_list_of_replicas(strategy, value):
        value = distributed.per_replica(strategy.extended, value)
    return nests.map_structure(
        lambda leaf: _spread(
            strategy, replica_values.reduce_leaf(strategy, operation, leaf), copies
        ),
        value,
    )


def batch_reduce(strategy: Strategy, aggregation: Any, value_destination_pairs: Pairs) -> list[Any]:
    """A list of :func:`reduce_to`, one per (value, destinations) pair."""
    return [
        reduce_to(strategy, aggregation, value, destinations)
        for value, destinations in value_destination_pairs
    ]


def _combine(operation: ReduceOp, values: Any) -> Any:
    if operation == replica_values.FIRST:
        return values[0]
    return reductions.combine(operation, values)


def _copies(destinations: Any) -> int:
    """The number of devices that get the result."""
    if distributed.is_distributed(destinations):
        return len(distributed.components(destinations))
    if isinstance(destinations, (list, tuple)) and destinations:
        return len(destinations)
    if isinstance(destinations, (str, tf.Variable)) or nests.is_tensor(destinations):
        return 1
    raise ArgumentTypeError(
        "destinations=%r" % (destinations,),
        "it says which devices get the result",
        "a mirrored variable, a per-replica value, a device string, or a list of device strings",
    )


def _spread(strategy: Strategy, value: Any, copies: int) -> Any:
    return strategies.backend_of(strategy).mirror(value, copies)


def broadcast(strategy: Strategy, tensor: Any, destinations: Any = None) -> Any:
    """Mirrors a tensor to devices.

    Args:
      strategy: the strategy.
      tensor: a tensor or what converts to one.
      destinations: None for the worker devices, or as for :func:`reduce_to`.

    Returns:
      A mirrored value; a tensor if it is for one device.
    """
    contexts.require_cross_replica(strategy, "broadcast(...)")
    copies = strategy.num_replicas_in_sync if destinations is None else _copies(destinations)
    return _spread(strategy, tf.convert_to_tensor(tensor), copies)
