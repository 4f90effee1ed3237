"""How the virtual TPU stores variables.

A mirrored variable is one variable that every replica reads. A sync-on-read
variable is one variable per replica. A mirrored variable is split into one per
replica when a replica function assigns it without aggregation, or an update gives
it, a value that replicas may not share: from then on the copies of a real TPU may differ.
:mod:`splits` does that.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import distributed, functions, graphs, stored_parts, versions
from tpudist.virtual.trace import function_graphs
from tpudist.virtual.variables import (
    creation_lines,
    other_strategies,
    splits,
    stacked_copies,
    stored_once,
    sync_on_read,
    uniform_updates,
)

if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, Mapping

    from tpudist.tfcompat.annotations import Extended, Tensor, Variable


NONE = tf.VariableAggregation.NONE


def is_stored_once(variable: Variable) -> bool:
    """Whether all replicas of `variable` read one stored value."""
    if stacked_copies.of(variable) is not None:
        return False
    parts = distributed.components(variable)
    return len(parts) > 1 and parts[0] is parts[1]


def of_handle(handle: Tensor) -> Any:
    """The distributed variable whose first component has `handle`, or None."""
    return getattr(handle, "_tpudist_variable", lambda: None)()


def own(handle: Tensor, extended: Extended) -> Any:
    """The variable of which each replica has its own, whose first `handle` is; else None.

    Args:
      handle: a resource that a trace captured.
      extended: the `VirtualExtended` whose replicas they are.
    """
    variable = of_handle(handle)
    if variable is None or is_stored_once(variable):
        return None
    rows = stacked_copies.of(variable)
    parts = distributed.components(variable) if rows is None else [rows.first, None]
    return variable if len(parts) > 1 and handle is parts[0].handle else None


def positions(variable: Variable, extended: Extended) -> Any:
    """For each replica of `extended` the position of its part of an own `variable`."""
    own = getattr(variable, "_own_strategy", None)  # The replica ids have none.
    if own is not None and extended is not own.extended:
        return other_strategies.cores_of(variable, extended)
    return range(extended._num_replicas_in_sync)


def link(variable: Variable) -> None:
    """Lets :func:`of_handle` find `variable` from its first handle."""
    handle = distributed.components(variable)[0].handle
    handle._tpudist_variable = weakref.ref(variable)
    if graphs.is_eager(handle):
        handle._tpudist_made_at = creation_lines.here()


class StoredOnce(stored_once.OneValue, other_strategies.FoundByCore, distributed.MirroredVariable):
    """A mirrored variable whose components are the same stored variable."""

    @property
    def handle(self) -> Any:
        """The resource of the current replica's component."""
        if self._updates_parts():
            splits.split(self)
        self._note_read()
        return super().handle

    def _get(self) -> Any:
        self._note_read()
        return super()._get()

    def _note_read(self) -> None:
        if not versions.TRACE_ONCE and not tf.executing_eagerly():  # no _get_replica there
            assume_equal(self)

    def _get_replica(self, replica_id: int) -> Any:
        if self._updates_parts() and not self._assumed_equal:
            splits.split(self)
        elif replica_id and not tf.executing_eagerly():
            assume_equal(self)
        return super()._get_replica(replica_id)

    def _mirrored_update(self, *args: Any, **kwargs: Any) -> Any:  # what 2.2 calls
        if self.aggregation != NONE:
            other_strategies.refuse_aggregated(self)
        return super()._mirrored_update(*args, **kwargs)

    def _update(self, update_fn: Callable[..., Any], value: Any, **kwargs: Any) -> Any:
        if self.aggregation != NONE:
            other_strategies.refuse_aggregated(self)
        if self._updates_parts():
            splits.split(self)
        return super()._update(update_fn, value, **kwargs)

    def _updates_parts(self) -> bool:
        """Whether it is used, as a slot, to update a variable that was split.

        It must then be split too, or it would be updated once per part.
        """
        extended = self._own_strategy.extended
        return extended.updates_parts and is_stored_once(self)

    def _update_replica(self, update_fn: Callable[..., Any], value: Any, **kwargs: Any) -> Any:
        if (
            self.aggregation == NONE
            and is_stored_once(self)
            and (self._own_strategy.extended.splits_variables)
        ):
            assign = functools.partial(super()._update_replica, update_fn, value, **kwargs)
            if other_strategies.are_all_parts(self):
                done, result = uniform_updates.update(self, update_fn, value, kwargs)
                return result if done else splits.update(self, assign)
            splits.split(self)
        return super()._update_replica(update_fn, value, **kwargs)


def assume_equal(variable: Variable, for_good: bool = False) -> None:
    """Notes that a graph relies on `variable` being stored once, if it is.

    Args:
      variable: a variable.
      for_good: rules out a split even by replicas that are being traced one by
        one, whose ops could still be told apart.
    """
    if not may_split(variable):
        return
    replicas = None if for_good else variable._own_strategy.extended.replicas
    known = variable._assumed_equal
    variable._assumed_equal = replicas if replicas and known in (False, replicas) else True


def may_split(value: Any) -> bool:
    """Whether `value` is a mirrored variable that is stored once for several replicas."""
    return isinstance(value, stored_once.OneValue) and is_stored_once(value)


def replica_id(extended: Extended) -> Any:
    """The replica's id, read from a variable that holds it.

    A tf.function in the replica function may outlive the trace it is first
    called in, in its cache, so it can use no tensor of that trace; but like
    any function it can use a variable.

    Returns:
      An int32 scalar; None where a variable would need a Session.
    """
    with tf.init_scope():
        if not tf.executing_eagerly():
            return None
        if extended.replica_ids is None:
            with extended.place():
                extended.replica_ids = distributed.per_replica(
                    extended,
                    [
                        distributed.ResourceVariable(i, trainable=False)
                        for i in range(extended._num_replicas_in_sync)
                    ],
                )
            link(extended.replica_ids)
    return distributed.components(extended.replica_ids)[0].read_value()


def create(
    extended: Extended,
    next_creator: Callable[..., Any],
    kwargs: dict[str, Any],
    mirrored_class: Any,
) -> Any:
    """Creates one distributed variable; see ``tf.distribute``'s scope.

    Args:
      extended: the `VirtualExtended`.
      next_creator: the next variable creator of the scope.
      kwargs: the creation arguments.
      mirrored_class: the class that a mirrored variable is wrapped in.

    Returns:
      The distributed variable: one stored variable if it is mirrored, one
      per replica if it is synchronised on read.
    """
    colocate_with = kwargs.pop("colocate_with", None)
    if hasattr(colocate_with, "device") and distributed.is_single_device(colocate_with):
        with tf.device(colocate_with.device):
            return next_creator(**kwargs)
    count = extended._num_replicas_in_sync
    aggregation = kwargs.get("aggregation", NONE)  # TensorFlow up to 2.4 takes it out
    if kwargs.get("trainable", True) is None:
        # In a graph TensorFlow replaces the copies in the trainable collection by
        # the distributed variable only if `trainable` was given, so give it.
        kwargs["trainable"] = kwargs.get("synchronization") != (tf.VariableSynchronization.ON_READ)

    def per_replica(**kwargs: Any) -> Any:
        with extended.place(), _eager_place(extended):
            first = next_creator(**kwargs)
            make = functools.partial(_sibling, first, next_creator, kwargs)
            if _starts_apart(kwargs, colocate_with, aggregation):
                return [first] + [make(i) for i in range(1, count)]
            splits.makers_of_siblings()[first] = make
            return [first] * count

    with function_graphs.outside(kwargs):
        variable = distributed.create_distributed_variable(
            extended, per_replica, mirrored_class, sync_on_read.Variable, kwargs
        )
    variable._own_strategy = extended._container_strategy()
    link(variable)
    return variable


@contextlib.contextmanager
def _eager_place(extended: Extended) -> Iterator[Any]:
    """Keeps a replica's device label off variables that are created outside of a function."""
    if versions.INIT_SCOPE_SKIPS_DEVICE_FUNCTIONS and functions.in_function():
        with tf.device(extended.real_device):
            yield
    else:
        yield


def _starts_apart(kwargs: Mapping[str, Any], colocate_with: Any, aggregation: Any) -> bool:
    """Whether a new variable is stored once per replica from the start.

    The slots of a split variable are. A TF 1 graph cannot be traced again when
    a variable is split, so a variable that a replica function may assign is
    too: one that is neither trainable nor an optimizer's slot (which is
    colocated with a variable).
    """
    if kwargs.get("synchronization") == tf.VariableSynchronization.ON_READ:
        return True
    if isinstance(colocate_with, stored_once.OneValue) and not is_stored_once(colocate_with):
        return True
    return (
        versions.ASSIGN_WITHOUT_AGGREGATION
        and colocate_with is None
        and aggregation == NONE
        and kwargs.get("trainable") is False
        and not tf.executing_eagerly()
        and not functions.in_function()
    )


def _sibling(
    first: Any, next_creator: Callable[..., Any], kwargs: Mapping[str, Any], replica_id: int
) -> Any:
    def initial_value() -> Any:
        if tf.executing_eagerly() or functions.in_function():
            return tf.identity(first.value())
        return tf.identity(first.initial_value)

    name = stored_parts.replica_name(first, replica_id)
    return next_creator(**dict(kwargs, initial_value=initial_value, name=name))
