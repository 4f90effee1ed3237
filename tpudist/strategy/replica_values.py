"""Values of all replicas: making them, taking them apart, reducing one of them.

Called in cross-replica context, in a graph, a ``tf.function`` or eagerly.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from tpudist.errors import ArgumentError
from tpudist.strategy import base_classes, contexts
from tpudist.tfcompat import distributed, distributed_values, nests
from tpudist.virtual.replicas import program
from tpudist.virtual.variables import splits

if TYPE_CHECKING:
    from tpudist.annotations import Fn, ReduceOp, Strategy
    from tpudist.tfcompat.annotations import Nest


#: The reduction that keeps the first replica's value.
FIRST = "FIRST"


class Mapped:
    """The results of :func:`tpudist.adapter.cross_replica.map_over`, one per item."""

    def __init__(self, values: Any) -> None:
        self._values = list(values)

    def get(self) -> list[Any]:
        """The list of results, in the order of the items."""
        return self._values


def reduction(aggregation: object, none_allowed: bool = False) -> Nest:
    """The ``ReduceOp``, or `FIRST`, of an aggregation, a ``ReduceOp`` or the name of one.

    If `none_allowed`, that of NONE (or None) is None.
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


def refuse_swapped(operation: object, value: object) -> None:
    """Refuses ``reduce(value, SUM)``, whose arguments are in the wrong order."""
    if isinstance(value, (str, enum.Enum)):
        raise ArgumentError(
            "reduce(%s, %s)" % (type(operation).__name__, value),
            "the reduction comes first, and then what is reduced",
            "strategy.reduce(%s, value, axis=None)"
            % (repr(value) if isinstance(value, str) else "tf.distribute.%s" % value),
        )


def own_results(strategy: Strategy, value: Any) -> tuple[Any, ...]:
    """Tuple of the components of `value` on this client; ``(value,)`` if it has none.

    A nest has none, whatever its leaves are, but for what the era's TensorFlow took apart: lists
    of a tensor for each replica (until 2.1; a list of something else is one value that
    TensorFlow assigns), every nest (later than 2.2), or nothing.
    """
    taken_apart = getattr(strategy, "_nests_taken_apart", "lists")
    if distributed.is_distributed(value):
        return tuple(getattr(base_classes.native(strategy), distributed.LOCAL_RESULTS)(value))
    if taken_apart == "lists" and is_list_of_replicas(strategy, value):
        return tuple(value) if all(map(distributed.is_tensor_like, value)) else (value,)
    if taken_apart == "all" and nests.is_nested(value):
        return tuple(program.spread(strategy, value))
    return (value,)


def own_values(strategy: Strategy, value: object) -> list[Any]:
    """List of the values in `value`, one per replica; ``[value]`` for a single value.

    A list has one value per replica already.
    """
    if isinstance(value, Mapped):
        return value.get()
    if distributed.is_distributed(value):
        return list(splits.copies_of(value))
    if any(distributed.is_distributed(leaf) for leaf in nests.flatten(value)):
        return program.spread(strategy, value)
    return value if isinstance(value, list) else [value]


def local_results(strategy: Strategy, value: object) -> tuple[Any, ...]:
    """`own_results`; on a cluster of all replicas, as a pod's one client has them."""
    return tuple(_of_all(strategy, value, own_results(strategy, value)))


def unwrap(strategy: Strategy, value: object) -> list[Any]:
    """`own_values`; on a cluster of all replicas, as a pod's one client has them."""
    return list(_of_all(strategy, value, own_values(strategy, value)))


def _of_all(strategy: Strategy, value: object, parts: object) -> Any:
    """Variables, and what is the same on all workers, are those of this worker."""
    gather = getattr(strategy.extended, "of_all_workers", None)
    if gather is None or distributed.is_variable(value) or distributed.is_mirrored(value):
        return parts
    leaves = nests.flatten(value)
    return gather(parts) if any(map(distributed.is_distributed, leaves)) else parts


def reduce_leaf(strategy: Strategy, operation: ReduceOp, value: object) -> Nest:
    """A per-replica value reduced to one tensor; `operation` from :func:`reduction`."""
    if operation == FIRST:
        return distributed.components(value)[0]
    reduced = strategy.extended.reduce_to(operation, value, destinations="/device:CPU:0")
    return distributed.components(reduced)[0]


def is_list_of_replicas(strategy: Strategy, value: object) -> bool:
    """Whether `value` is a list with one tensor per replica."""
    return (
        isinstance(value, list)
        and len(value) == len(distributed.local_replicas(strategy.extended))
        and len(value) > 1
        and not any(distributed.is_distributed(leaf) or nests.is_nested(leaf) for leaf in value)
    )


def distribute_values(strategy: Strategy, value_fn: Fn, context_class: Fn) -> Nest:
    """A per-replica value of ``value_fn(context_class(replica_id, num_replicas))``.

    Of a nest it is a nest of per-replica values.

    Context: cross-replica.
    """
    contexts.refuse_in_replica(strategy, "distribute_values_from_function")
    count, own = strategy.num_replicas_in_sync, distributed.local_replicas(strategy.extended)
    return nests.map_structure(
        lambda *parts: distributed_values.telling(
            distributed.per_replica(strategy.extended, parts)
        ),
        *[value_fn(context_class(i, count)) for i in own],
    )


def replica_ids(strategy: Strategy) -> Nest:
    """0 to N - 1 as a per-replica value; the integer 0 if there is one replica.

    Context: cross-replica.
    """
    contexts.require_cross_replica(strategy, "the index of replicas")
    if strategy.num_replicas_in_sync == 1:
        return 0
    return distributed.per_replica(strategy.extended, distributed.local_replicas(strategy.extended))


class ValueContext:
    """Says to a value function which replica it makes a value for.

    Args:
      replica_id_in_sync_group: 0 to `num_replicas_in_sync` - 1.
      num_replicas_in_sync: number of replicas.
    """

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self._replica_id_in_sync_group = replica_id_in_sync_group
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        """Number of replicas, an integer."""
        return self._num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> int:
        """The replica's id, an integer."""
        return self._replica_id_in_sync_group
