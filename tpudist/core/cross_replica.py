"""Updates, reads and places variables in cross-replica context.

Every function takes the strategy first and works in a graph, a
``tf.function`` or eagerly.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.core import contexts, replica_values
from tpudist.errors import ArgumentError, PerReplicaError
from tpudist.tfcompat import distributed, nests

if TYPE_CHECKING:
    from typing import Any, Iterable, Mapping

    from tpudist.core.annotations import Args, Context, Fn, Kwargs, Strategy


def update(strategy: Strategy, variable: Any, fn: Fn, args: Args, kwargs: Kwargs) -> Any:
    """Calls ``fn(component, *args, **kwargs)`` for every copy of a variable.

    Args:
      strategy: the strategy.
      variable: the variable to update.
      fn: takes a component of it.
      args, kwargs: mirrored values among them are taken apart; the keyword
        ``grouped`` (True) is not passed on.

    Returns:
      The merged results, which run all updates; or with ``grouped=False``
      the list of results.

    Raises:
      PerReplicaError: (a ValueError) a per-replica value among the arguments.
    """
    contexts.require_cross_replica(strategy, "update(...)")
    kwargs, group = _grouped(kwargs)
    _require_mirrored(args, kwargs)
    return _listed(
        strategy.extended.update(variable, fn, args=tuple(args), kwargs=kwargs, group=group)
    )


def update_non_slot(
    strategy: Strategy, colocate_with: Any, fn: Fn, args: Args, kwargs: Kwargs
) -> Any:
    """Calls ``fn(*args, **kwargs)`` on devices; see :func:`update`."""
    contexts.require_cross_replica(strategy, "update_non_slot(...)")
    kwargs, group = _grouped(kwargs)
    _require_mirrored(args, kwargs)
    if isinstance(colocate_with, list):
        colocate_with = colocate_with[0] if len(colocate_with) == 1 else tuple(colocate_with)
    return _listed(
        strategy.extended.update_non_slot(
            colocate_with, fn, args=tuple(args), kwargs=kwargs, group=group
        )
    )


def _grouped(kwargs: Kwargs) -> tuple[dict[str, Any], Any]:
    own = dict(kwargs or {})
    return own, own.pop("grouped", True)


def _listed(result: Any) -> Any:
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


def read(strategy: Strategy, variable: Any) -> tf.Tensor:
    """The value of a variable, aggregated if replicas keep their own."""
    if distributed.is_variable(variable):
        return strategy.extended.read_var(variable)
    return tf.identity(variable)


def value_container(strategy: Strategy, value: Any) -> Any:
    """The distributed value that `value` is a component of, else `value`."""
    if distributed.is_variable(value):
        return value
    return strategy.extended.value_container(value)


def colocate(strategy: Strategy, variable: Any) -> Context:
    """Context manager: new variables live where `variable` does.

    Args:
      strategy: the strategy, in whose scope this is called.
      variable: a variable of the scope, or a list of the devices for
        variables that are no slots.
    """
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


def group(strategy: Strategy, value: Any, name: str | None = None) -> Any:
    """One op that runs all values of `value`; None in eager mode."""
    values = nests.flatten(replica_values.unwrap(strategy, value))
    if len(values) != 1 or name is not None:
        return tf.group(*values, name=name)
    return values[0].op if hasattr(values[0], "op") and (not tf.executing_eagerly()) else values[0]


def map_over(strategy: Strategy, items: Iterable[Any], fn: Fn, args: Args, kwargs: Kwargs) -> Any:
    """Calls ``fn(item, *args, **kwargs)`` for each item.

    Returns:
      A `replica_values.Mapped`, which can be unwrapped and reduced.
    """
    contexts.require_cross_replica(strategy, "map(...)")
    return replica_values.Mapped(fn(item, *args, **(kwargs or {})) for item in items)
