"""Combines the replicas' values, and updates, reads and places variables, in cross-replica context.

Every function takes the strategy first and works in a graph, a ``tf.function`` or eagerly.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Iterable, Mapping

import tensorflow as tf

from tpudist.backends import strategies
from tpudist.errors import ArgumentError, ArgumentTypeError, PerReplicaError
from tpudist.strategy import contexts, replica_values
from tpudist.tfcompat import distributed, nests
from tpudist.virtual import reductions

if TYPE_CHECKING:
    from tpudist.annotations import Args, Axis, Context, Fn, Kwargs, Pairs, ReduceOp, Strategy
    from tpudist.strategy.replica_values import Mapped
    from tpudist.tfcompat.annotations import Nest, Operation, Tensor


def reduce_to(
    strategy: Strategy, aggregation: Any, value: Any, destinations: Any = None, axis: Axis = None
) -> Nest:
    """Combines the replicas' values, into one tensor or mirrored to `destinations`.

    The aggregation ONLY_FIRST_REPLICA keeps the first replica's value. A value is per-replica, a
    nest of such, or a list with one per replica. Destinations are a mirrored variable, a per-
    replica value, or one device string or several; an integer is an `axis`, the batch dimension of
    each component.
    """
    operation = replica_values.reduction(aggregation)
    if isinstance(destinations, int):
        destinations, axis = None, destinations
    if destinations is not None or tf.distribute.has_strategy():
        contexts.require_cross_replica(strategy, "reduce(...)")
    if axis is not None:
        if operation == replica_values.FIRST:
            raise ArgumentError(
                "aggregation ONLY_FIRST with axis=%r" % (axis,),
                "along an axis values are added or averaged",
                "SUM or MEAN, or no axis",
            )
        return strategies.backend_of(strategy).reduce_along(operation, value, axis)
    copies = 1 if destinations is None else _copies(destinations)
    with strategy.scope():
        return _reduce_nest(strategy, operation, value, copies)


def _reduce_nest(strategy: Strategy, operation: ReduceOp, value: Any, copies: int) -> Nest:
    mirror = strategies.backend_of(strategy).mirror
    if isinstance(value, replica_values.Mapped):
        items = value.get()
        first = operation == replica_values.FIRST
        return mirror(items[0] if first else reductions.combine(operation, items), copies)
    if replica_values.is_list_of_replicas(strategy, value):
        value = distributed.per_replica(strategy.extended, value)
    return nests.map_structure(
        lambda leaf: mirror(replica_values.reduce_leaf(strategy, operation, leaf), copies), value
    )


def batch_reduce(strategy: Strategy, aggregation: Any, value_destination_pairs: Pairs) -> list[Any]:
    """A list of :func:`reduce_to`, one per (value, destinations) pair."""
    return [
        reduce_to(strategy, aggregation, value, destinations)
        for value, destinations in value_destination_pairs
    ]


def _copies(destinations: object) -> int:
    """Returns on how many devices a result is wanted, from a ``destinations`` argument."""
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


def broadcast(strategy: Strategy, tensor: object, destinations: object = None) -> Nest:
    """Mirrors a tensor to devices, by default to the workers'; see :func:`reduce_to`."""
    contexts.require_cross_replica(strategy, "broadcast(...)")
    own = len(distributed.local_replicas(strategy.extended))
    copies = own if destinations is None else _copies(destinations)
    return strategies.backend_of(strategy).mirror(tf.convert_to_tensor(tensor), copies)


def update(strategy: Strategy, variable: object, fn: Fn, args: Args, kwargs: Kwargs) -> Nest:
    """Calls ``fn(component, *args, **kwargs)`` for every copy of a variable.

    Mirrored values among the arguments are taken apart. The merged results run all updates; with
    the keyword ``grouped=False``, which is not passed on, they are a list.
    """
    contexts.require_cross_replica(strategy, "update(...)")
    if not (distributed.is_distributed(variable) or hasattr(variable, "assign")):
        raise ArgumentTypeError(
            "update(%r, ...)" % (variable,),
            "it calls a function with each copy of a variable",
            "update(variable, fn, ...), with a variable of the scope",
        )
    kwargs, grouped = _grouped(kwargs)
    _require_mirrored(args, kwargs)
    return _listed(
        strategy.extended.update(variable, fn, args=tuple(args), kwargs=kwargs, group=grouped)
    )


def update_non_slot(
    strategy: Strategy, colocate_with: object, fn: Fn, args: Args, kwargs: Kwargs
) -> Nest:
    """Calls ``fn(*args, **kwargs)`` on devices; see :func:`update`."""
    contexts.require_cross_replica(strategy, "update_non_slot(...)")
    kwargs, grouped = _grouped(kwargs)
    _require_mirrored(args, kwargs)
    if isinstance(colocate_with, list):
        colocate_with = colocate_with[0] if len(colocate_with) == 1 else tuple(colocate_with)
    return _listed(
        strategy.extended.update_non_slot(
            colocate_with, fn, args=tuple(args), kwargs=kwargs, group=grouped
        )
    )


def _grouped(kwargs: Kwargs) -> tuple[dict[str, Any], Any]:
    own = dict(kwargs or {})
    return own, own.pop("grouped", True)


def _listed(result: object) -> Nest:
    return list(result) if type(result) is tuple else result


def _require_mirrored(args: Args, kwargs: Mapping[str, Any]) -> None:
    for leaf in nests.flatten((args, kwargs)):
        if distributed.is_distributed(leaf) and not (
            distributed.is_mirrored(leaf) or distributed.is_variable(leaf)
        ):
            raise PerReplicaError(
                "update(...) was given the per-replica value %r" % (leaf,),
                "the copies of a variable get equal values, and these may "
                "differ from replica to replica",
                "update(variable, fn, strategy.reduce(aggregation, value, destinations=variable))",
            )


def read(strategy: Strategy, variable: object) -> Tensor:
    """The value of a variable, aggregated if replicas keep their own."""
    if distributed.is_variable(variable):
        return strategy.extended.read_var(variable)
    return tf.identity(variable)


def value_container(strategy: Strategy, value: object) -> Nest:
    """The distributed value that `value` is a component of, else `value`."""
    if distributed.is_variable(value):
        return value
    return strategy.extended.value_container(value)


def colocate(strategy: Strategy, variable: object) -> Context:
    """Context manager: new variables live where `variable`, or a list of devices, does."""
    contexts.require_scope(strategy, "colocate_vars_with(...)")
    if isinstance(variable, (str, list, tuple)):
        return contextlib.nullcontext()
    if not distributed.is_variable(variable):
        raise ArgumentError(
            "colocate_vars_with(%r)" % (variable,),
            "it is not a variable that this strategy's scope created",
            "a variable created under strategy.scope(), or what non_slot_devices(...) returns",
        )
    return strategy.extended.colocate_vars_with(variable)


def group(strategy: Strategy, value: object, name: str | None = None) -> Operation | None:
    """One op that runs all values of `value`; None in eager mode."""
    values = nests.flatten(replica_values.own_values(strategy, value))
    if len(values) != 1 or name is not None:
        return tf.group(*values, name=name)
    return values[0].op if hasattr(values[0], "op") and (not tf.executing_eagerly()) else values[0]


def map_over(
    strategy: Strategy, items: Iterable[Any], fn: Fn, args: Args, kwargs: Kwargs
) -> Mapped:
    """Calls ``fn(item, *args, **kwargs)`` for each item; what comes back can be reduced."""
    contexts.require_cross_replica(strategy, "map(...)")
    return replica_values.Mapped(fn(item, *args, **(kwargs or {})) for item in items)
