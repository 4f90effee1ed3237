"""Values of all replicas: taken apart, combined, and mirrored to devices.

Every function takes the strategy first and is called in cross-replica
context, in a graph, a ``tf.function`` or eagerly.
"""

import tensorflow as tf

from tpudist.core import contexts, strategies
from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.tfcompat import distributed, nests
from tpudist.virtual import delivery
from tpudist.virtual import reduce_once as one_device

#: The reduction that keeps the first replica's value.
FIRST = "FIRST"


class Mapped:
    """The results of :func:`map_over`, one per item."""

    def __init__(self, values):
        self._values = list(values)

    def get(self):
        """The list of results, in the order of the items."""
        return self._values


def reduction(aggregation, none_allowed=False):
    """The reduction that an aggregation or a ``ReduceOp`` stands for.

    Args:
      aggregation: a ``tf.VariableAggregation``, a ``tf.distribute.ReduceOp``,
        or the name of one.
      none_allowed: whether NONE (or None) may be asked for.

    Returns:
      A ``ReduceOp``, `FIRST`, or None for no reduction.

    Raises:
      ArgumentError: (a ValueError) it is none of these.
    """
    name = str(getattr(aggregation, "name", aggregation)).upper()
    if name in ("SUM", "MEAN"):
        return distributed.reduce_op(name)
    if name.startswith("ONLY_FIRST"):
        return FIRST
    if name == "NONE" and none_allowed:
        return None
    raise ArgumentError(
        "aggregation=%r" % (aggregation,),
        "values are reduced by SUM, MEAN or by keeping the first one",
        "tf.VariableAggregation.SUM, .MEAN or .ONLY_FIRST_REPLICA",
    )


def unwrap(strategy, value):
    """List of the values in `value`, one per replica.

    Args:
      strategy: the strategy.
      value: a distributed value or variable; a nest with such leaves; a list
        that has one value per replica already; or a single value.

    Returns:
      A list; ``[value]`` of a single value.
    """
    if isinstance(value, Mapped):
        return value.get()
    if distributed.is_distributed(value):
        return list(distributed.components(value))
    if any(distributed.is_distributed(leaf) for leaf in nests.flatten(value)):
        return delivery.spread(strategy, value)
    return value if isinstance(value, list) else [value]


def reduce_to(strategy, aggregation, value, destinations=None, axis=None):
    """Combines the replicas' values, into one tensor or mirrored to devices.

    Args:
      strategy: the strategy.
      aggregation: SUM, MEAN or the first replica's.
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
    operation = reduction(aggregation)
    if isinstance(destinations, int):
        destinations, axis = None, destinations
    if destinations is not None or tf.distribute.has_strategy():
        contexts.require_cross_replica(strategy, "reduce(...)")
    if axis is not None:
        return _reduce_along(strategy, operation, value, axis)
    copies = 1 if destinations is None else _copies(destinations)
    with strategy.scope():
        return _reduce_nest(strategy, operation, value, copies)


def _reduce_along(strategy, operation, value, axis):
    if operation == FIRST:
        raise ArgumentError(
            "aggregation ONLY_FIRST with axis=%r" % (axis,),
            "along an axis values are added or averaged",
            "SUM or MEAN, or no axis",
        )
    if not strategies.is_virtual(strategy):
        return strategies.native_call(strategy, "reduce", operation, value, axis=axis)
    return nests.map_structure(
        lambda leaf: strategy.extended.reduce_along(operation, leaf, axis), value
    )


def _reduce_nest(strategy, operation, value, copies):
    if isinstance(value, Mapped):
        return _spread(strategy, _combine(operation, value.get()), copies)
    if is_list_of_replicas(strategy, value):
        value = distributed.per_replica(strategy.extended, value)
    return nests.map_structure(
        lambda leaf: _spread(strategy, reduce_leaf(strategy, operation, leaf), copies), value
    )


def batch_reduce(strategy, aggregation, value_destination_pairs):
    """A list of :func:`reduce_to`, one per (value, destinations) pair."""
    return [
        reduce_to(strategy, aggregation, value, destinations)
        for value, destinations in value_destination_pairs
    ]


def reduce_leaf(strategy, operation, value):
    """One tensor of one per-replica value; `operation` from :func:`reduction`."""
    if operation == FIRST:
        return distributed.components(value)[0]
    reduced = strategy.extended.reduce_to(operation, value, destinations="/device:CPU:0")
    return distributed.components(reduced)[0]


def _combine(operation, values):
    if operation == FIRST:
        return values[0]
    return one_device.combine(operation, values)


def is_list_of_replicas(strategy, value):
    """Whether `value` is a list with one tensor per replica."""
    return (
        isinstance(value, list)
        and len(value) == (strategy.num_replicas_in_sync)
        and len(value) > 1
        and not any(distributed.is_distributed(leaf) or nests.is_nested(leaf) for leaf in value)
    )


def _copies(destinations):
    """On how many devices a result is wanted."""
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


def _spread(strategy, value, copies):
    if copies == 1 or not strategies.is_virtual(strategy):
        return value
    with strategy.extended.place():
        return distributed.mirrored(strategy.extended, one_device.copies(value, copies))


def broadcast(strategy, tensor, destinations=None):
    """Mirrors a tensor to devices.

    Args:
      strategy: the strategy.
      tensor: a tensor or what converts to one.
      destinations: None for the worker devices, or as :func:`reduce_to`.

    Returns:
      A mirrored value; a tensor if it is for one device.
    """
    contexts.require_cross_replica(strategy, "broadcast(...)")
    copies = strategy.num_replicas_in_sync if destinations is None else _copies(destinations)
    return _spread(strategy, tf.convert_to_tensor(tensor), copies)
